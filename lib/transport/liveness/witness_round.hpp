// SPDX-License-Identifier: Apache-2.0
// Which ranks are asked whether a peer had left before its process ended, and when the answers suffice.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <vector>

namespace chorale::transport {

/// The questions of one rank about one peer. A single "no" proves nothing: whatever kept the farewell from
/// this rank may have kept it from others. So every living rank is asked, some at a time, in the order of
/// ranks from the next one on: then not all ranks ask the same one, and a window of answers suffices, however
/// large the group. Sans-I/O. Not thread-safe.
class witness_round {
 public:
  /// Number of ranks that are asked at a time: few, since in a large group all others ask, too.
  static constexpr std::size_t at_once = 8;

  /// `rank` of `size` asks about `peer`.
  witness_round(int peer, int rank, int size) noexcept : peer_(peer), rank_(rank), size_(size) {}

  [[nodiscard]] int peer() const noexcept { return peer_; }

  /// `from` has no farewell of the peer either. An answer from outside the window is ignored: that rank is
  /// asked again.
  void deny(int from) noexcept {
    const int place = (from - rank_ + size_) % size_ - first_;
    if (place >= 0 && place < window) denied_ |= std::uint64_t{1} << place;
  }

  /// The next ranks to ask, at most `at_once`. Empty if no living rank has a farewell of the peer.
  /// `is_gone(rank)`: whether that rank no longer answers, as the peer itself.
  [[nodiscard]] std::vector<int> next(const std::predicate<int> auto& is_gone) {
    while (first_ < size_ && ((denied_ & 1) != 0 || is_gone(rank_at(first_)))) {
      denied_ >>= 1;
      ++first_;
    }
    std::vector<int> asked;
    for (int place = 0; place < window && first_ + place < size_ && asked.size() < at_once; ++place) {
      const int rank = rank_at(first_ + place);
      if ((denied_ >> place & 1) == 0 && !is_gone(rank)) asked.push_back(rank);
    }
    return asked;
  }

 private:
  static constexpr int window = 64;
  [[nodiscard]] int rank_at(int place) const noexcept { return (rank_ + place) % size_; }

  int peer_;
  int rank_;
  int size_;
  int first_ = 1;             ///< distance to the first rank without an answer
  std::uint64_t denied_ = 0;  ///< bit i: the rank at distance `first_ + i` has answered
};

}  // namespace chorale::transport
