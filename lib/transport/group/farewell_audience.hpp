// SPDX-License-Identifier: Apache-2.0
// Which ranks a leaving rank tells.
#pragma once

#include <bit>
#include <vector>

namespace chorale::transport {

/// In a small group a leaving rank tells all others. In a larger one it tells the ranks of its host, those
/// with which it has exchanged anything, and its keepers: the number of farewells of all ranks thus grows as
/// n log n, not as n squared. A rank that waits for a peer that it has never heard asks that peer's keepers.
class farewell_audience {
 public:
  /// Size of the largest group in which each rank tells all others.
  static constexpr int small_group = 128;

  farewell_audience(int rank, int size) noexcept : rank_(rank), size_(size) {}

  [[nodiscard]] static constexpr bool is_everyone(int size) noexcept { return size <= small_group; }
  /// Whether `peer` gets a farewell in any case, even if the two ranks have never communicated.
  [[nodiscard]] bool includes(int peer) const noexcept {
    return is_everyone(size_) || std::has_single_bit(steps(rank_, peer)) ||
           std::has_single_bit(steps(peer, rank_));
  }
  /// The ranks, at distances of powers of two, that are told in any case; each once.
  [[nodiscard]] std::vector<int> keepers() const {
    std::vector<int> all;
    for (int step = 1; step < size_; step *= 2) {
      all.push_back((rank_ + step) % size_);
      // Some of these ranks are a power of two away in the other direction, too.
      const int before = (rank_ + size_ - step) % size_;
      if (!std::has_single_bit(steps(rank_, before))) all.push_back(before);
    }
    return all;
  }

 private:
  [[nodiscard]] unsigned steps(int from, int to) const noexcept {
    return static_cast<unsigned>((to - from + size_) % size_);
  }
  int rank_;
  int size_;
};

}  // namespace chorale::transport
