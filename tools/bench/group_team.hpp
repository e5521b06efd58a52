// SPDX-License-Identifier: Apache-2.0
// Agreement among the ranks of a group without an additional communicator.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include <chorale/bench/contestant.hpp>
#include <chorale/core/error.hpp>

#include "any_group.hpp"

namespace bench {

/// Agrees through the exchange by which communicators of `group` are made. Needs no connections and, for
/// simulated ranks, no time. Not thread-safe.
class group_team final : public chorale::bench::team {
 public:
  explicit group_team(any_group group) : group_(std::move(group)) {}

  [[nodiscard]] int rank() const override { return group_.rank(); }
  [[nodiscard]] int size() const override { return group_.size(); }
  void sum(std::span<double> values) override {
    combine(values, [](double a, double b) { return a + b; });
  }
  double max(double value) override {
    combine({&value, 1}, [](double a, double b) { return std::max(a, b); });
    return value;
  }

 private:
  /// Evaluates in the order of the ranks, so that the result is the same on all. @throws error errc::mismatch
  /// if ranks have different numbers of values.
  template <class F>
  void combine(std::span<double> values, F with) {
    const auto all = group_.exchange(std::as_bytes(values), std::chrono::milliseconds{0});
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      if (all[rank].size() != values.size_bytes())
        throw chorale::error(chorale::errc::mismatch,
                             "the ranks do not make the same calls of what they agree on",
                             {static_cast<int>(rank)});
      for (std::size_t i = 0; i < values.size(); ++i) {
        double theirs = 0;
        std::memcpy(&theirs, all[rank].data() + i * sizeof theirs, sizeof theirs);
        values[i] = rank == 0 ? theirs : with(values[i], theirs);
      }
    }
  }

  any_group group_;
};

}  // namespace bench
