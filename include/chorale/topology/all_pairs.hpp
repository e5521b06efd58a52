// SPDX-License-Identifier: Apache-2.0
// All pairs: every rank exchanges with every other once, in size - 1 steps without a hot spot.
#pragma once

#include <chorale/topology/arithmetic.hpp>
#include <chorale/topology/index_iterator.hpp>

namespace chorale::topology {

/// The steps of one rank in an alltoall. If size is a power of two, step i exchanges with rank xor i;
/// otherwise it sends to (rank + i) mod size and receives from (rank - i) mod size. In each step every rank
/// receives from exactly one rank. Source: P5 section 2.
class all_pairs {
 public:
  /// A step of this rank and its peers.
  struct step {
    int index;  ///< i, from 1 to size - 1
    int to;
    int from;
  };

  /// A group of one.
  constexpr all_pairs() = default;
  /// @throws error errc::invalid_argument if rank is outside [0, size).
  constexpr all_pairs(int rank, int size) : rank_(rank), size_(size) {
    detail::require_group("all_pairs", rank, size);
  }

  [[nodiscard]] constexpr int size() const { return size_ - 1; }
  [[nodiscard]] constexpr bool empty() const { return size() == 0; }
  constexpr step operator[](int position) const {
    const int i = position + 1;
    if (is_power_of_two(size_)) return {i, rank_ ^ i, rank_ ^ i};
    return {i, wrap(rank_ + i, size_), wrap(rank_ - i, size_)};
  }
  [[nodiscard]] constexpr auto begin() const { return index_iterator<all_pairs>{*this, 0}; }
  [[nodiscard]] constexpr auto end() const { return index_iterator<all_pairs>{*this, size()}; }

 private:
  int rank_ = 0;
  int size_ = 1;
};

/// Selects at least `wanted` steps of an alltoall with as few different partners as possible, for a resource
/// needed per partner, such as a connection. If `size` is a power of two, these are the first steps.
/// Otherwise they are pairs of steps i and size - i, which have the same two partners; if `size` is even,
/// step size / 2 has only one partner, and is added if `wanted` is odd. A negative `wanted` counts as 0.
/// Source: P5 section 4.3 (the k steps).
class nearest_steps {
 public:
  /// At least `wanted` steps for a group of `size` ranks.
  constexpr nearest_steps(int size, int wanted)
      : size_(size),
        wanted_(wanted < 0          ? 0
                : wanted < size - 1 ? wanted
                                    : size - 1) {}

  /// The number of selected steps: `wanted`, at most all; one more if both `size` and that number are odd.
  /// Each rank has as many partners in these steps.
  [[nodiscard]] constexpr int count() const { return wanted_ + (size_ % 2 == 1 && wanted_ % 2 == 1 ? 1 : 0); }
  /// Whether step `index`, from 1 to size - 1, is selected.
  [[nodiscard]] constexpr bool contain(int index) const {
    if (is_power_of_two(size_)) return index <= wanted_;
    const int distance = index < size_ - index ? index : size_ - index;
    if (2 * distance == size_) return wanted_ % 2 == 1;
    return 2 * distance <= count();
  }

 private:
  int size_;
  int wanted_;
};

}  // namespace chorale::topology
