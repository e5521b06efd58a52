#include "cost.hpp"

#include <algorithm>
#include <charconv>

#include <chorale/topology/arithmetic.hpp>

namespace chorale::model {
namespace {

/// The K of "name<K>" or "name<K, ...>", at most ranks - 1 of which can be used; 0 if `text` does not begin
/// with "name<".
int degree_of(std::string_view text, std::string_view name, int ranks) {
  if (!text.starts_with(name) || text.size() <= name.size() || text[name.size()] != '<') return 0;
  int k = 0;
  std::from_chars(text.data() + name.size() + 1, text.data() + text.size(), k);
  return std::min(k, std::max(1, ranks - 1));
}

double steps_of_degree(int ranks, int k) {
  double steps = 0;
  for (long long reached = 1; reached < ranks; reached *= k + 1) ++steps;
  return steps;
}

}  // namespace

std::optional<double> estimate(operation what, std::string_view algorithm, int ranks, std::size_t bytes,
                               const message_cost& cost) {
  const double n = ranks;
  const double levels = topology::ceil_log2(ranks);
  // Groups that are no power of two fold first and unfold at the end.
  const double doubling = topology::is_power_of_two(ranks) ? levels : topology::floor_log2(ranks) + 2;
  const double ts = cost.start;
  const double m = static_cast<double>(bytes);
  const double block = std::min(m, 8192.0);
  const double mtw = m * cost.byte;
  const double combined = m * cost.combine;
  const double first = ts + block * cost.byte;  // the first block of a pipeline, one hop
  switch (what) {
    case operation::barrier:
      if (algorithm == "dissemination") return levels * ts;
      if (algorithm == "pairwise_exchange") return doubling * ts;
      if (algorithm == "central") return 2 * (n - 1) * ts;
      if (const int k = degree_of(algorithm, "dissemination_k", ranks))
        return steps_of_degree(ranks, k) * (ts + (k - 1) * ts / 3);
      break;
    case operation::broadcast:  // P2 section 5.1 for blocks
      if (algorithm == "binomial") return levels * first + levels * std::max(0.0, mtw - block * cost.byte);
      if (algorithm == "binomial_store_and_forward") return levels * (ts + mtw);
      if (algorithm == "flat") return (n - 1) * (ts + mtw);
      if (algorithm == "chain") return (n - 1) * first + mtw;
      if (algorithm == "scatter_allgather") return 2 * (n - 1) * ts + 2 * mtw;
      break;
    case operation::reduce:
      if (const int k = degree_of(algorithm, "degree_k", ranks))  // P2 section 5.2
        return steps_of_degree(ranks, k) * (ts + k * (mtw + combined) * 0.5 + 0.5 * (mtw + combined));
      if (algorithm == "reproducible") return ts + (n - 1) * (mtw + combined + ts / 3);
      break;
    case operation::allreduce:
      if (algorithm == "recursive_doubling") return doubling * (ts + mtw + combined);
      if (const int k = degree_of(algorithm, "degree_k", ranks))
        return steps_of_degree(ranks, k) * (ts + k * (mtw + combined)) + levels * (ts + mtw);
      if (algorithm == "rabenseifner")
        return 2 * doubling * ts + 2 * mtw + combined + (doubling - levels) * (mtw + combined);
      if (algorithm == "ring") return 2 * (n - 1) * ts + 2 * mtw + combined;
      if (algorithm == "reproducible") return 2 * (n - 1) * ts + 2 * mtw + combined;
      break;
    case operation::allgather:  // P4 section 2.3
      if (algorithm == "recursive_doubling") return doubling * ts + (n - 1) * mtw;
      if (algorithm == "bruck") return levels * ts + (n - 1) * 1.5 * mtw;
      if (algorithm == "ring") return (n - 1) * (ts + mtw);
      if (algorithm == "direct") return (n - 1) * (ts / 2 + mtw);
      break;
    case operation::alltoall:  // P5 section 2
      if (algorithm == "bruck") return levels * (ts + n / 2 * 2 * mtw);
      if (algorithm == "pairwise") return (n - 1) * (ts + mtw);
      if (algorithm == "direct") return levels * ts + (n - 1) * (ts / 2 + mtw);
      break;
    case operation::gather:
    case operation::scatter:
      if (algorithm == "flat") return (n - 1) * (ts / 2 + mtw);
      if (algorithm == "binomial") return levels * ts + (n - 1) * 1.5 * mtw;
      break;
    case operation::reduce_scatter:
      if (algorithm == "direct") return (n - 1) * (ts + mtw + combined);
      if (algorithm == "recursive_halving") return levels * ts + (n - 1) * 1.5 * (mtw + combined);
      break;
    case operation::scan:
      if (algorithm == "recursive_doubling") return levels * (ts + mtw + combined);
      if (algorithm == "chain")
        return (n - 1) * (first + block * cost.combine) + std::max(0.0, mtw - block * cost.byte);
      break;
    default:
      break;
  }
  return std::nullopt;
}

}  // namespace chorale::model
