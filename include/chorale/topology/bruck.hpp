// Bruck's patterns: ceil(log2 n) rounds for any n, in a buffer that is rotated by the rank.
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

/// The rounds of one rank in Bruck's alltoall. Place j of the working buffer first holds the block for
/// (rank + j) mod size, at the end the one from (rank - j) mod size. Round m sends every place j with bit m
/// set to (rank + 2^m) mod size and receives the same places from (rank - 2^m) mod size. Cost: ceil(log2
/// size) rounds of at most size / 2 blocks.  Source: P5 section 2 (Bruck).
class bruck_alltoall {
 public:
  struct round {
    int index;   ///< m, from 0
    int to;      ///< (rank + 2^m) mod size
    int from;    ///< (rank - 2^m) mod size
    int blocks;  ///< places that travel in this round

    /// Whether place `j` travels in this round.
    [[nodiscard]] constexpr bool moves(int j) const { return ((j >> index) & 1) != 0; }
  };

  /// A group of one.
  constexpr bruck_alltoall() = default;
  /// @throws error errc::invalid_argument if rank is outside [0, size).
  constexpr bruck_alltoall(int rank, int size) : rank_(rank), size_(size) {
    detail::require_group("bruck_alltoall", rank, size);
  }

  [[nodiscard]] constexpr int size() const { return ceil_log2(size_); }
  [[nodiscard]] constexpr bool empty() const { return size() == 0; }
  constexpr round operator[](int index) const {
    const int d = 1 << index;
    const int cycles = size_ / 2 / d * d;  // places with the bit set in whole cycles of 2 d places
    const int rest = size_ - 2 * cycles - d;
    return {index, wrap(rank_ + d, size_), wrap(rank_ - d, size_), cycles + (rest > 0 ? rest : 0)};
  }
  [[nodiscard]] constexpr auto begin() const { return index_iterator<bruck_alltoall>{*this, 0}; }
  [[nodiscard]] constexpr auto end() const { return index_iterator<bruck_alltoall>{*this, size()}; }

 private:
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace chorale::topology
