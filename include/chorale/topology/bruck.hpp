// SPDX-License-Identifier: Apache-2.0
// Bruck's patterns: O(log n) rounds for any n, in a buffer that is rotated by the rank.
#pragma once

#include <chorale/topology/arithmetic.hpp>
#include <chorale/topology/index_iterator.hpp>

namespace chorale::topology {

/// The rounds of one rank in Bruck's allgather. Place j of the working buffer holds the block of rank
/// (rank + j) mod size; place 0 is full at the start. Round m, at distance d = 2^m, sends places [0, blocks)
/// to (rank - d) mod size and receives places [d, d + blocks) from (rank + d) mod size. Cost: ceil(log2 size)
/// rounds, size - 1 blocks in all.  Source: P4 section 2.3 (Bruck for any size).
class bruck_allgather {
 public:
  /// What this rank does in a round.
  struct round {
    int index;     ///< m, from 0
    int to;        ///< (rank - 2^m) mod size
    int from;      ///< (rank + 2^m) mod size
    int distance;  ///< 2^m, the place where the received blocks go
    int blocks;    ///< min(2^m, size - 2^m)
  };

  /// A group of one.
  constexpr bruck_allgather() = default;
  /// @throws error errc::invalid_argument if rank is outside [0, size).
  constexpr bruck_allgather(int rank, int size) : rank_(rank), size_(size) {
    detail::require_group("bruck_allgather", rank, size);
  }

  [[nodiscard]] constexpr int size() const { return ceil_log2(size_); }
  [[nodiscard]] constexpr bool empty() const { return size() == 0; }
  constexpr round operator[](int index) const {
    const int d = 1 << index;
    return {index, wrap(rank_ - d, size_), wrap(rank_ + d, size_), d, d < size_ - d ? d : size_ - d};
  }
  [[nodiscard]] constexpr auto begin() const { return index_iterator<bruck_allgather>{*this, 0}; }
  [[nodiscard]] constexpr auto end() const { return index_iterator<bruck_allgather>{*this, size()}; }

 private:
  int rank_ = 0;
  int size_ = 1;
};

/// The rounds of one rank in Bruck's alltoall of radix r. Place j of the working buffer holds the block for
/// (rank + j) mod size at the start, and the block from (rank - j) mod size at the end. In round m, at
/// distance d = r^m, message i = 0 .. r - 2 sends the blocks in all places whose base-r digit m is i + 1 to
/// (rank + (i + 1) d) mod size, and receives blocks for the same places from (rank - (i + 1) d) mod size, for
/// all i with (i + 1) d < size. Cost: ceil(log_r size) rounds of at most r - 1 messages; a block travels once
/// for each of its digits that is not zero. Source: Bruck, Ho, Kipnis, Upfal and Weathersby, 1997; P5 section
/// 2 for r = 2.
class bruck_alltoall {
 public:
  /// The messages of one round.
  class round {
   public:
    /// Messages of this round in each direction, from 1 to the radix - 1.
    [[nodiscard]] constexpr int count() const { return count_; }
    /// Receiver of message `i` in [0, count()).
    [[nodiscard]] constexpr int to(int i) const { return wrap(rank_ + (i + 1) * distance_, size_); }
    /// Sender of message `i` in [0, count()).
    [[nodiscard]] constexpr int from(int i) const { return wrap(rank_ - (i + 1) * distance_, size_); }
    /// Calls `use(place)` for each block position sent in message `i`, in ascending order. Message 0 has the
    /// most blocks of its round.
    template <class Use>
    constexpr void each_place(int i, Use&& use) const {
      const long long cycle = static_cast<long long>(distance_) * radix_;
      for (long long first = (i + 1LL) * distance_; first < size_; first += cycle)
        for (long long place = first; place < first + distance_ && place < size_; ++place)
          use(static_cast<int>(place));
    }

   private:
    friend class bruck_alltoall;
    constexpr round(const bruck_alltoall& all, int distance)
        : rank_(all.rank_), size_(all.size_), radix_(all.radix_), distance_(distance) {
      const int reachable = (size_ - 1) / distance_;
      count_ = reachable < radix_ - 1 ? reachable : radix_ - 1;
    }
    int rank_;
    int size_;
    int radix_;
    int distance_;
    int count_;
  };

  /// A group of one.
  constexpr bruck_alltoall() = default;
  /// @throws error errc::invalid_argument if rank is outside [0, size), or radix is less than 2.
  constexpr bruck_alltoall(int rank, int size, int radix) : rank_(rank), size_(size), radix_(radix) {
    detail::require_group("bruck_alltoall", rank, size);
    if (radix < 2 || radix > max_size) detail::reject("bruck_alltoall", "radix", radix, "2 to 2^30");
  }

  /// Rounds.
  [[nodiscard]] constexpr int size() const {
    int rounds = 0;
    for (long long reached = 1; reached < size_; reached *= radix_) ++rounds;
    return rounds;
  }
  [[nodiscard]] constexpr bool empty() const { return size_ == 1; }
  constexpr round operator[](int index) const {
    int distance = 1;
    for (int m = 0; m < index; ++m) distance *= radix_;
    return {*this, distance};
  }
  [[nodiscard]] constexpr auto begin() const { return index_iterator<bruck_alltoall>{*this, 0}; }
  [[nodiscard]] constexpr auto end() const { return index_iterator<bruck_alltoall>{*this, size()}; }

 private:
  int rank_ = 0;
  int size_ = 1;
  int radix_ = 2;
};

}  // namespace chorale::topology
