// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "candidates.hpp"
#include "cost.hpp"

namespace chorale::model {
namespace {

/// The greatest size at which formulas are evaluated; above, the choice stays the same.
constexpr std::size_t greatest = std::size_t{1} << 26;
/// Rounding may differ between compilers: relative differences up to this count as equal.
constexpr double rounding = 1e-9;

}  // namespace

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
