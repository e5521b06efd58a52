// SPDX-License-Identifier: Apache-2.0
// Places: which ranks of a group share a host, and reach each other through soft0.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace chorale {

/// The layout of a group: each rank is in one place, and places are numbered from 0 by their lowest ranks.
/// It is made from what the ranks tell each other, never from a formula over their numbers: places may differ
/// in size, and the ranks of one need not be neighbours. The same on all ranks. Immutable, so thread-safe; 4
/// bytes for each place and rank, and 4 more for each rank if the ranks of some place are not neighbours.
class places {
 public:
  places() = default;
  /// `of`: the place of each rank; places are numbered in the order of their lowest ranks.
  explicit places(std::vector<int> of) : order_(of.size()), smallest_(static_cast<int>(of.size())) {
    for (const int place : of) {
      const auto next = static_cast<std::size_t>(place) + 1;
      if (next >= begins_.size()) begins_.resize(next + 1);
      ++begins_[next];
    }
    for (std::size_t i = 1; i < begins_.size(); ++i) {
      largest_ = std::max(largest_, begins_[i]);
      smallest_ = std::min(smallest_, begins_[i]);
      begins_[i] += begins_[i - 1];
    }
    std::vector<int> next{begins_.begin(), begins_.end()};
    for (std::size_t rank = 0; rank < of.size(); ++rank)
      order_[static_cast<std::size_t>(next[static_cast<std::size_t>(of[rank])]++)] = static_cast<int>(rank);
    if (!std::is_sorted(of.begin(), of.end())) of_ = std::move(of);
  }

  /// Number of places; 0 without ranks.
  [[nodiscard]] int count() const noexcept { return static_cast<int>(begins_.size()) - 1; }
  /// Number of ranks.
  [[nodiscard]] int ranks() const noexcept { return static_cast<int>(order_.size()); }
  /// The place of a rank of the group. Takes time logarithmic in the number of places.
  [[nodiscard]] int of(int rank) const noexcept {
    if (!of_.empty()) return of_[static_cast<std::size_t>(rank)];
    return static_cast<int>(std::upper_bound(begins_.begin(), begins_.end(), rank) - begins_.begin()) - 1;
  }
  /// The ranks of a place, in ascending order; at least one.
  [[nodiscard]] std::span<const int> members(int place) const noexcept {
    const auto begin = static_cast<std::size_t>(begins_[static_cast<std::size_t>(place)]);
    const auto end = static_cast<std::size_t>(begins_[static_cast<std::size_t>(place) + 1]);
    return std::span{order_}.subspan(begin, end - begin);
  }
  /// All ranks, place after place.
  [[nodiscard]] std::span<const int> order() const noexcept { return order_; }
  /// The number of ranks of the place that has most.
  [[nodiscard]] int largest() const noexcept { return largest_; }
  /// The number of ranks of the place that has fewest.
  [[nodiscard]] int smallest() const noexcept { return smallest_; }
  /// Whether all places have equally many ranks.
  [[nodiscard]] bool are_equal() const noexcept { return smallest_ == largest_; }
  /// Whether the ranks of each place are neighbours, so that `order()` is ascending.
  [[nodiscard]] bool are_contiguous() const noexcept { return of_.empty(); }

 private:
  std::vector<int> of_;  ///< the place of each rank; empty if places are contiguous
  std::vector<int> order_;
  std::vector<int> begins_{0};  ///< index in `order_` of the first rank of each place, and the end
  int largest_ = 0;
  int smallest_ = 0;
};

}  // namespace chorale
