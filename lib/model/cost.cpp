// SPDX-License-Identifier: Apache-2.0
#include "cost.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include <chorale/core/config.hpp>
#include <chorale/topology/arithmetic.hpp>
#include <chorale/topology/degree_k.hpp>

#include "candidates.hpp"
#include "paper_models.hpp"

namespace chorale::model {
namespace {

/// Longer messages travel through a tree or chain in blocks of this size.
constexpr double block_bytes = 8192;
/// Blocks of at least this size go directly between the users' buffers.
constexpr std::size_t straight_bytes = config::usual_zero_copy_bytes;
/// From this size on trees put operands, in pieces that follow each other up the tree.
constexpr double put_bytes = 2 * straight_bytes;
constexpr double piece_bytes = 65536;

/// Longer results are collected: `allgather::recursive_doubling::short_bytes`.
constexpr std::size_t collected_bytes = 4096;
/// The fraction of `message_cost::byte` that is due to copying in and out of a message.
constexpr double copy_share = 1;

/// P4 section 4.3: for messages over 1 MB on more than 32 processes only the ring keeps to neighbours; in the
/// other algorithms bytes contend for the middle of the network (P4 section 2.3). That two contend for one
/// link is our estimate: the paper gives no number.
constexpr std::size_t contended_bytes = std::size_t{1} << 20;
constexpr int uncontended_ranks = 32;
constexpr double contention = 2;

/// The K of "name<K>" or "name<K, ...>"; 0 if `text` does not begin with "name<".
int degree_of(std::string_view text, std::string_view name) {
  if (!text.starts_with(name) || text.size() <= name.size() || text[name.size()] != '<') return 0;
  int k = 0;
  std::from_chars(text.data() + name.size() + 1, text.data() + text.size(), k);
  return k;
}

/// What the collective buffer of P4 section 4.2 adds, in microseconds: each copied step has a second write,
/// which announces the data; a rank copies one block in and the others out, instead of copying messages in
/// and out in each step.
double collected(int ranks, std::size_t bytes, const message_cost& cost) {
  const int folds = topology::is_power_of_two(ranks) ? 0 : 1;
  int blocks = 1 + folds;
  int steps = folds;
  if (bytes == 0 || bytes >= straight_bytes) return 0;
  while (blocks < ranks && static_cast<std::size_t>(blocks) * bytes < straight_bytes) {
    blocks = std::min(ranks, 2 * blocks);
    ++steps;
  }
  if (blocks <= 2 || static_cast<std::size_t>(blocks) * bytes <= collected_bytes) return 0;
  return steps * cost.further - (blocks - 2) * static_cast<double>(bytes) * cost.byte * copy_share;
}

/// A message in terms of P2's model. Only the sum, Ts, Tt and To matter.
event_costs events_of(const message_cost& cost) {
  return {.library = cost.start - 2 * cost.further,
          .descriptor = 0,
          .startup = cost.further,
          .adapter = 0,
          .transmit_byte = cost.byte,
          .copy_byte = 0,
          .acknowledgement = 0,
          .combine_byte = cost.combine};
}

/// The terms of the formulas, for one message of `bytes`.
struct prices {
  const message_cost& cost;
  int ranks;
  double bytes;

  [[nodiscard]] double start() const { return cost.start; }
  [[nodiscard]] double message() const { return cost.start + bytes * cost.byte; }
  [[nodiscard]] double combined() const { return bytes * cost.combine; }
  /// The same for messages of `other` bytes.
  [[nodiscard]] prices of(double other) const { return {cost, ranks, other}; }

  /// The number of messages to or from all other ranks, minus one.
  [[nodiscard]] double beside() const { return std::max(0, ranks - 2); }
  /// One rank sends to all others: each message starts when the one before has left.
  [[nodiscard]] double to_all() const { return message() + beside() * (cost.further + bytes * cost.byte); }
  /// One rank receives from all others, which start together (P2 section 5.2).
  [[nodiscard]] double from_all() const {
    return message() + beside() * std::max(cost.further, bytes * cost.byte);
  }
  /// The reduce of P2 section 5.2 for the first block, at best, except that operands which are combined more
  /// slowly than they arrive wait for each other. Rank 0 receives the further blocks of all its children.
  /// Before operands are put, all ranks send their children the target addresses at the same time.
  [[nodiscard]] double up_tree(int degree, bool is_put) const {
    const topology::degree_k head{0, ranks, degree};
    const double senders = head.children().size();
    const prices first = of(std::min(bytes, is_put ? piece_bytes : block_bytes));
    const double arrival = std::max(cost.further, first.bytes * cost.byte);
    return degree_k_reduce(ranks, degree, static_cast<std::size_t>(first.bytes), events_of(cost)).best +
           (is_put ? cost.start : 0) + (senders - head.steps()) * std::max(0.0, first.combined() - arrival) +
           senders * (bytes - first.bytes) * std::max(cost.byte, cost.combine);
  }
  /// `up_tree` with all other ranks as children of the root.
  [[nodiscard]] double up_star() const {
    int degree = 1;
    while (degree < ranks - 1) degree = 2 * degree + 1;
    return up_tree(degree, false);
  }
  /// Down the binomial tree: P2 section 5.1, in one block, since further blocks cost nothing extra.
  [[nodiscard]] double down_tree() const {
    const auto whole = static_cast<std::size_t>(bytes);
    return binomial_broadcast(ranks, whole, whole + 2, events_of(cost));
  }
};

/// The greatest size at which formulas are evaluated; above, the choice stays the same.
constexpr std::size_t greatest = std::size_t{1} << 26;
/// Rounding may differ between compilers: relative differences up to this count as equal.
constexpr double rounding = 1e-9;

}  // namespace

std::optional<double> estimate(operation what, std::string_view algorithm, int ranks, std::size_t bytes,
                               const message_cost& cost) {
  const prices one{cost, ranks, static_cast<double>(bytes)};
  const double n = ranks;
  const double levels = topology::ceil_log2(ranks);
  // Groups that are not a power of two fold first and unfold at the end.
  const double doubling = topology::is_power_of_two(ranks) ? levels : topology::floor_log2(ranks) + 2;
  const double ts = cost.start;
  const double mtw = one.bytes * cost.byte;
  const double combined = one.combined();
  const bool is_put = one.bytes >= put_bytes;
  const prices block = one.of(std::min(one.bytes, block_bytes));  // the first block of a pipeline
  const prices share = one.of(one.bytes / n);
  const hockney_costs hockney{cost.start, cost.byte};
  switch (what) {
    case operation::barrier:
      if (algorithm == "dissemination") return levels * ts;
      if (algorithm == "pairwise_exchange") return doubling * ts;
      if (algorithm == "central") return one.of(0).from_all() + one.of(0).to_all();
      if (const int k = degree_of(algorithm, "dissemination_k"); k >= 1) {
        double steps = 0;
        for (long long reached = 1; reached < ranks; reached *= k + 1) ++steps;
        return steps * (ts + (std::min(k, ranks - 1) - 1) * cost.further);
      }
      break;
    case operation::broadcast:
      if (algorithm == "binomial" || algorithm == "binomial_store_and_forward") return one.down_tree();
      if (algorithm == "flat") return one.to_all();
      if (algorithm == "chain") return (n - 1) * block.message() + (one.bytes - block.bytes) * cost.byte;
      if (algorithm == "scatter_allgather") return share.to_all() + (n - 1) * share.message();
      break;
    case operation::reduce:
      if (const int k = degree_of(algorithm, "degree_k"); topology::valid_degree(k))
        return one.up_tree(k, is_put);
      if (algorithm == "reproducible") return one.up_star();
      break;
    case operation::allreduce:
      if (algorithm == "recursive_doubling") return doubling * (ts + mtw + combined);
      if (const int k = degree_of(algorithm, "degree_k"); topology::valid_degree(k))
        return one.up_tree(k, is_put) + (algorithm.ends_with("flat>") ? one.to_all() : one.down_tree());
      if (algorithm == "rabenseifner")
        return 2 * doubling * ts + 2 * mtw + combined + (doubling - levels) * (mtw + combined);
      if (algorithm == "ring") return 2 * (n - 1) * ts + 2 * mtw + combined;
      if (algorithm == "reproducible")
        return one.bytes <= block_bytes ? one.to_all() + (n - 1) * combined
                                        : share.to_all() + combined + (n - 1) * share.message();
      break;
    case operation::allgather: {
      const bool contended = ranks > uncontended_ranks && bytes > contended_bytes;
      const message_cost far{cost.start, contended ? contention * cost.byte : cost.byte, cost.combine,
                             cost.further};
      if (algorithm == "recursive_doubling")
        return recursive_doubling_allgather(ranks, bytes, {far.start, far.byte}) +
               collected(ranks, bytes, cost);
      // Our Bruck needs no rotation at the end: blocks are at their final positions from the start.
      if (algorithm == "bruck") return levels * ts + (n - 1) * one.bytes * far.byte;
      if (algorithm == "ring") return ring_allgather(ranks, bytes, hockney);
      if (algorithm == "direct") return prices{far, ranks, one.bytes}.to_all();
      break;
    }
    case operation::alltoall:  // P5 section 2
      if (algorithm == "bruck") return levels * (ts + n / 2 * 2 * mtw);
      if (algorithm == "pairwise") return (n - 1) * (ts + mtw);
      // Only writes directly into the users' buffers need an exchange of addresses first (P5 section 4.1).
      if (algorithm == "direct") return (bytes >= straight_bytes ? levels * ts : 0) + one.to_all();
      break;
    case operation::gather:
      if (algorithm == "flat") return one.from_all();
      if (algorithm == "binomial") return levels * ts + (n - 1) * 1.5 * mtw;
      break;
    case operation::scatter:
      if (algorithm == "flat") return one.to_all();
      if (algorithm == "binomial") return levels * ts + (n - 1) * 1.5 * mtw;
      break;
    case operation::reduce_scatter:
      if (algorithm == "direct") return one.to_all() + (n - 1) * combined;
      if (algorithm == "recursive_halving") return levels * ts + (n - 1) * 1.5 * (mtw + combined);
      break;
    case operation::scan:
      if (algorithm == "recursive_doubling") return levels * (ts + mtw + combined);
      if (algorithm == "chain")
        return (n - 1) * (block.message() + block.combined()) + (one.bytes - block.bytes) * cost.byte;
      break;
    default:
      break;
  }
  return std::nullopt;
}

std::vector<rule> rules_by_formula(operation what, int ranks, std::span<const std::string> algorithms,
                                   const message_cost& cost) {
  const auto known = [&](std::size_t bytes) {
    std::vector<candidate> all;
    for (std::size_t i = 0; i < algorithms.size(); ++i) {
      if (const auto us = estimate(what, algorithms[i], ranks, bytes, cost))
        all.push_back({static_cast<int>(i), *us});
    }
    return all;
  };
  const auto best = [&](std::size_t bytes) { return fastest(known(bytes), rounding).algorithm; };
  if (known(0).empty()) return {};
  const std::string source = fmt::format("by formula for {} ranks", ranks);
  std::vector<rule> found;
  std::size_t from = 0;
  std::size_t at = 0;
  const auto end_rule = [&](std::size_t up_to, int algorithm) {
    found.push_back({up_to, algorithm, reason(known(from), from, algorithms, source, "without a formula")});
  };
  for (std::size_t next = 1; next <= greatest; next *= 2) {
    // Splits the sizes from `at` to the next power of two: each time finds the last byte at which `at`'s best
    // is best.
    for (int here = best(at); here != best(next); here = best(at)) {
      std::size_t last = at;
      std::size_t first = next;
      while (first - last > 1) {
        const std::size_t middle = last + (first - last) / 2;
        (best(middle) == here ? last : first) = middle;
      }
      end_rule(last, here);
      at = from = first;
    }
    at = next;
  }
  end_rule(no_limit, best(greatest));
  return found;
}

}  // namespace chorale::model
