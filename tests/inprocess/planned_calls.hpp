// Every call that can be planned, with each rank's operands in a round and the expected results.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <chorale/plan.hpp>

#include "../support/collectives/guarded_buffer.hpp"
#include "../support/collectives/placement.hpp"

namespace inprocess {

using number = std::uint64_t;
using numbers = collectives::guarded_buffer<number>;

/// A plan, the plain call with the same arguments, and its buffers, which are filled for a round and compared
/// with a serial computation.
struct planned_call {
  std::string name;
  chorale::plan plan;
  std::function<void()> plain;
  std::function<void(std::uint64_t round)> fill;
  std::function<void(std::uint64_t round)> check;
};

/// How often each rank of one process has entered a barrier.
using arrivals = std::vector<std::atomic<int>>;

/// Makes all planned calls for `count` elements per rank, or up to two more if blocks are uneven.
template <class Comm>
class planned_calls {
 public:
  planned_calls(Comm& comm, std::size_t count, bool in_place, int root, arrivals& came)
      : comm_(comm), count_(count), in_place_(in_place), root_(root), came_(came) {
    add_barrier();
    add_moves();
    add_uneven_moves();
    add_reductions();
    add_scans();
    add_exchanges();
  }
  [[nodiscard]] std::vector<planned_call>& all() noexcept { return all_; }

 private:
  using elements = std::span<number>;
  using sources = std::span<const number>;
  using shared = std::shared_ptr<numbers>;
  using rounds = std::function<number(std::uint64_t, std::size_t)>;

  [[nodiscard]] int rank() const { return comm_.rank(); }
  [[nodiscard]] std::size_t ranks() const { return static_cast<std::size_t>(comm_.size()); }
  [[nodiscard]] std::size_t me() const { return static_cast<std::size_t>(comm_.rank()); }
  [[nodiscard]] bool is_root() const { return rank() == root_; }

  static number given(std::uint64_t round, std::size_t rank, std::size_t i) {
    return collectives::operand<number>(round, static_cast<int>(rank), i);
  }
  static number sum(std::uint64_t round, std::size_t ranks, std::size_t i) {
    number all = 0;
    for (std::size_t r = 0; r < ranks; ++r) all += given(round, r, i);
    return all;
  }
  /// Element i of the data that rank `from` sends only to rank `to`.
  static number letter(std::uint64_t round, std::size_t from, std::size_t to, std::size_t i) {
    return given(round + 1000 * (to + 1), from, i);
  }
  static shared buffer(std::size_t n) { return std::make_shared<numbers>(n, n % 7); }

  /// `in` is filled with `gives`; `out` must equal `gets`, and `in` be unchanged if it is a different buffer.
  /// Either may be null.
  template <class Plain>
  void add(const char* name, chorale::plan plan, Plain&& plain, shared in, const rounds& gives, shared out,
           const rounds& gets) {
    const std::string what = std::string{name} + (in_place_ ? " in place" : "") + " of " +
                             std::to_string(count_) + " elements on rank " + std::to_string(rank());
    const auto fill = [in, out, gives](std::uint64_t round) {
      if (out) out->fill_with([&](std::size_t i) { return given(round + 77, 99, i); });
      if (in) in->fill_with([&](std::size_t i) { return gives(round, i); });
    };
    const auto check = [what, in, out, gives, gets](std::uint64_t round) {
      if (out) out->check(what, [&](std::size_t i) { return gets(round, i); });
      if (in && in != out) in->check(what + ": operand", [&](std::size_t i) { return gives(round, i); });
    };
    all_.push_back({name, std::move(plan), std::forward<Plain>(plain), fill, check});
  }

  void add_barrier() {
    const auto check = [this](std::uint64_t) {
      const int mine = came_[me()];
      for (const auto& other : came_)
        if (other < mine) throw collectives::wrong("a barrier was left before all ranks had come");
    };
    all_.push_back({"barrier", comm_.plan_barrier(), [this] { comm_.barrier(); },
                    [this](std::uint64_t) { ++came_[me()]; }, check});
  }

  void add_moves() {
    const std::size_t n = count_;
    const auto mine = [m = me()](std::uint64_t round, std::size_t i) { return given(round, m, i); };
    const auto of_all = [n](std::uint64_t round, std::size_t i) { return given(round, i / n, i % n); };
    const auto of_root = [r = static_cast<std::size_t>(root_)](std::uint64_t round, std::size_t i) {
      return given(round, r, i);
    };
    const int root = root_;
    Comm& comm = comm_;

    const shared text = buffer(n);
    const elements data = text->span();
    add(
        "broadcast", comm.plan_broadcast(data, root), [&comm, data, root] { comm.broadcast(data, root); },
        text, mine, text, of_root);

    const shared one = buffer(n), blocks = buffer(n * ranks());
    const sources in = one->span();
    const elements all = blocks->span();
    if (in_place_)
      add(
          "allgather", comm.plan_allgather(chorale::in_place, all),
          [&comm, all] { comm.allgather(chorale::in_place, all); }, blocks, of_all, blocks, of_all);
    else
      add(
          "allgather", comm.plan_allgather(in, all), [&comm, in, all] { comm.allgather(in, all); }, one, mine,
          blocks, of_all);

    const shared sent = buffer(n * ranks()), taken = in_place_ ? sent : buffer(n * ranks());
    const sources letters = sent->span();
    const elements answers = taken->span();
    add(
        "alltoall", comm.plan_alltoall(letters, answers),
        [&comm, letters, answers] { comm.alltoall(letters, answers); }, sent,
        [n, m = me()](std::uint64_t round, std::size_t i) { return letter(round, m, i / n, i % n); }, taken,
        [n, m = me()](std::uint64_t round, std::size_t i) { return letter(round, i / n, m, i % n); });

    const shared part = buffer(n), whole = is_root() ? buffer(n * ranks()) : shared{};
    const sources mine_in = part->span();
    const elements at_root = whole ? whole->span() : elements{};
    if (in_place_ && is_root())
      add(
          "gather", comm.plan_gather(chorale::in_place, at_root, root),
          [&comm, at_root, root] { comm.gather(chorale::in_place, at_root, root); }, whole, of_all, whole,
          of_all);
    else
      add(
          "gather", comm.plan_gather(mine_in, at_root, root),
          [&comm, mine_in, at_root, root] { comm.gather(mine_in, at_root, root); }, part, mine, whole,
          of_all);

    const shared from = is_root() ? buffer(n * ranks()) : shared{}, got = buffer(n);
    const sources to_all = from ? from->span() : elements{};
    const elements result = got->span();
    const rounds scattered = [r = static_cast<std::size_t>(root_), n](std::uint64_t round, std::size_t i) {
      return letter(round, r, i / n, i % n);
    };
    const rounds received = [r = static_cast<std::size_t>(root_), m = me()](
                                std::uint64_t round, std::size_t i) { return letter(round, r, m, i); };
    if (in_place_ && is_root())
      add("scatter", comm.plan_scatter(to_all, chorale::in_place, root),
          [&comm, to_all, root] { comm.scatter(to_all, chorale::in_place, root); }, from, scattered, {}, {});
    else
      add(
          "scatter", comm.plan_scatter(to_all, result, root),
          [&comm, to_all, result, root] { comm.scatter(to_all, result, root); }, from, scattered, got,
          received);
  }

  /// Contiguous blocks of counts[r] elements.
  struct layout {
    std::vector<std::size_t> counts, owner, index;
    void add(std::size_t n) {
      for (std::size_t i = 0; i < n; ++i) {
        owner.push_back(counts.size());
        index.push_back(i);
      }
      counts.push_back(n);
    }
  };

  void add_uneven_moves() {
    Comm& comm = comm_;
    const int root = root_;
    const std::size_t m = me(), r = static_cast<std::size_t>(root_);
    layout sizes, sent_sizes, taken_sizes;
    for (std::size_t rank = 0; rank < ranks(); ++rank) {
      sizes.add(count_ + rank % 3);
      sent_sizes.add(count_ + (m + 2 * rank) % 3);
      taken_sizes.add(count_ + (rank + 2 * m) % 3);
    }
    const auto counts = sizes.counts;
    const rounds mine = [m](std::uint64_t round, std::size_t i) { return given(round, m, i); };
    const rounds of_all = [sizes](std::uint64_t round, std::size_t i) {
      return given(round, sizes.owner[i], sizes.index[i]);
    };

    // Plans copy the counts, so the arguments may be destroyed.
    const shared one = buffer(counts[m]), all = buffer(sizes.owner.size());
    const sources in = one->span();
    const elements out = all->span();
    add(
        "allgatherv", comm.plan_allgatherv(in, out, std::vector<std::size_t>{counts}),
        [&comm, in, out, counts] { comm.allgatherv(in, out, counts); }, one, mine, all, of_all);

    const shared sent = buffer(sent_sizes.owner.size()), taken = buffer(taken_sizes.owner.size());
    const sources letters = sent->span();
    const elements answers = taken->span();
    const auto given_counts = sent_sizes.counts, taken_counts = taken_sizes.counts;
    add(
        "alltoallv", comm.plan_alltoallv(letters, given_counts, answers, taken_counts),
        [&comm, letters, answers, given_counts, taken_counts] {
          comm.alltoallv(letters, given_counts, answers, taken_counts);
        },
        sent,
        [sent_sizes, m](std::uint64_t round, std::size_t i) {
          return letter(round, m, sent_sizes.owner[i], sent_sizes.index[i]);
        },
        taken,
        [taken_sizes, m](std::uint64_t round, std::size_t i) {
          return letter(round, taken_sizes.owner[i], m, taken_sizes.index[i]);
        });

    const shared part = buffer(counts[m]), whole = is_root() ? buffer(sizes.owner.size()) : shared{};
    const sources mine_in = part->span();
    const elements at_root = whole ? whole->span() : elements{};
    add(
        "gatherv", comm.plan_gatherv(mine_in, at_root, counts, root),
        [&comm, mine_in, at_root, counts, root] { comm.gatherv(mine_in, at_root, counts, root); }, part, mine,
        whole, of_all);

    const shared from = is_root() ? buffer(sizes.owner.size()) : shared{}, got = buffer(counts[m]);
    const sources to_all = from ? from->span() : elements{};
    const elements result = got->span();
    add(
        "scatterv", comm.plan_scatterv(to_all, counts, result, root),
        [&comm, to_all, counts, result, root] { comm.scatterv(to_all, counts, result, root); }, from,
        [sizes, r](std::uint64_t round, std::size_t i) {
          return letter(round, r, sizes.owner[i], sizes.index[i]);
        },
        got, [r, m](std::uint64_t round, std::size_t i) { return letter(round, r, m, i); });
  }

  void add_reductions() {
    Comm& comm = comm_;
    const int root = root_;
    const std::size_t n = count_, m = me(), p = ranks();
    const rounds mine = [m](std::uint64_t round, std::size_t i) { return given(round, m, i); };
    const rounds total = [p](std::uint64_t round, std::size_t i) { return sum(round, p, i); };

    const shared operand = buffer(n), reduced = in_place_ ? operand : buffer(n);
    const sources in = operand->span();
    const elements out = reduced->span();
    // Only the root's result is written.
    const shared checked = is_root() ? reduced : shared{};
    if (in_place_)
      add(
          "reduce", comm.plan_reduce(chorale::in_place, out, chorale::sum, root),
          [&comm, out, root] { comm.reduce(chorale::in_place, out, chorale::sum, root); }, operand, mine,
          checked, total);
    else
      add(
          "reduce", comm.plan_reduce(in, out, chorale::sum, root),
          [&comm, in, out, root] { comm.reduce(in, out, chorale::sum, root); }, operand, mine, checked,
          total);

    const shared term = buffer(n), result = in_place_ ? term : buffer(n);
    const sources from = term->span();
    const elements to = result->span();
    if (in_place_)
      add(
          "allreduce", comm.plan_allreduce(to, chorale::sum),
          [&comm, to] { comm.allreduce(to, chorale::sum); }, term, mine, result, total);
    else
      add(
          "allreduce", comm.plan_allreduce(from, to, chorale::sum),
          [&comm, from, to] { comm.allreduce(from, to, chorale::sum); }, term, mine, result, total);

    const shared all = buffer(n * p);
    const sources terms = all->span();
    if (in_place_) {
      const elements both = all->span();
      add(
          "reduce_scatter", comm.plan_reduce_scatter(chorale::in_place, both, chorale::sum),
          [&comm, both] { comm.reduce_scatter(chorale::in_place, both, chorale::sum); }, all, mine, all,
          [n, m, p](std::uint64_t round, std::size_t i) {
            return i / n == m ? sum(round, p, i) : given(round, m, i);
          });
    } else {
      const shared block = buffer(n);
      const elements sums = block->span();
      add(
          "reduce_scatter", comm.plan_reduce_scatter(terms, sums, chorale::sum),
          [&comm, terms, sums] { comm.reduce_scatter(terms, sums, chorale::sum); }, all, mine, block,
          [n, m, p](std::uint64_t round, std::size_t i) { return sum(round, p, m * n + i); });
    }

    std::vector<std::size_t> counts;
    std::size_t before = 0, length = 0;
    for (std::size_t rank = 0; rank < p; ++rank) {
      if (rank == m) before = length;
      counts.push_back(n + rank % 3);
      length += counts.back();
    }
    const shared uneven = buffer(length), block = buffer(counts[m]);
    const sources uneven_in = uneven->span();
    const elements uneven_out = block->span();
    add(
        "reduce_scatter with counts", comm.plan_reduce_scatter(uneven_in, uneven_out, counts, chorale::sum),
        [&comm, uneven_in, uneven_out, counts] {
          comm.reduce_scatter(uneven_in, uneven_out, counts, chorale::sum);
        },
        uneven, mine, block,
        [before, p](std::uint64_t round, std::size_t i) { return sum(round, p, before + i); });
  }

  void add_scans() {
    Comm& comm = comm_;
    const std::size_t m = me();
    const rounds mine = [m](std::uint64_t round, std::size_t i) { return given(round, m, i); };
    const rounds until = [m](std::uint64_t round, std::size_t i) { return sum(round, m + 1, i); };
    // Rank 0 has no lower rank: its operand stays, or is copied.
    const rounds before = [m](std::uint64_t round, std::size_t i) { return sum(round, m == 0 ? 1 : m, i); };
    const shared a = buffer(count_), b = in_place_ ? a : buffer(count_);
    const shared c = buffer(count_), d = in_place_ ? c : buffer(count_);
    const sources a_in = a->span(), c_in = c->span();
    const elements b_out = b->span(), d_out = d->span();
    if (in_place_) {
      add(
          "scan", comm.plan_scan(b_out, chorale::sum), [&comm, b_out] { comm.scan(b_out, chorale::sum); }, a,
          mine, b, until);
      add(
          "exscan", comm.plan_exscan(d_out, chorale::sum),
          [&comm, d_out] { comm.exscan(d_out, chorale::sum); }, c, mine, d, before);
    } else {
      add(
          "scan", comm.plan_scan(a_in, b_out, chorale::sum),
          [&comm, a_in, b_out] { comm.scan(a_in, b_out, chorale::sum); }, a, mine, b, until);
      add(
          "exscan", comm.plan_exscan(c_in, d_out, chorale::sum),
          [&comm, c_in, d_out] { comm.exscan(c_in, d_out, chorale::sum); }, c, mine, d, before);
    }
  }

  void add_exchanges() {
    Comm& comm = comm_;
    const std::size_t m = me(), p = ranks();
    const int right = static_cast<int>((m + 1) % p), left = static_cast<int>((m + p - 1) % p);
    const rounds mine = [m](std::uint64_t round, std::size_t i) { return given(round, m, i); };
    const auto of = [](int peer) -> rounds {
      return [peer](std::uint64_t round, std::size_t i) {
        return given(round, static_cast<std::size_t>(peer), i);
      };
    };
    const shared a = buffer(count_), b = buffer(count_), c = buffer(count_), d = buffer(count_);
    const sources a_in = a->span(), c_in = c->span();
    const elements b_out = b->span(), d_out = d->span();
    // Plans copy the lists.
    add(
        "exchange",
        comm.plan_exchange({chorale::to(right, a_in), chorale::to(chorale::nobody, a_in)},
                           {chorale::from(left, b_out)}),
        [&comm, right, left, a_in, b_out] {
          comm.exchange({chorale::to(right, a_in)}, {chorale::from(left, b_out)});
        },
        a, mine, b, of(left));
    add(
        "send_receive", comm.plan_send_receive(left, c_in, right, d_out),
        [&comm, right, left, c_in, d_out] { comm.send_receive(left, c_in, right, d_out); }, c, mine, d,
        of(right));
  }

  Comm& comm_;
  std::size_t count_;
  bool in_place_;
  int root_;
  arrivals& came_;
  std::vector<planned_call> all_;
};

}  // namespace inprocess
