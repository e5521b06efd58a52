// SPDX-License-Identifier: Apache-2.0
// Circulant graphs: reduce-scatter and allgather in ceil(log2 n) rounds for any n.
#pragma once

#include <chorale/topology/arithmetic.hpp>
#include <chorale/topology/index_iterator.hpp>

namespace chorale::topology {

/// The rounds of one rank over the circulant graph whose distances are obtained by halving `size` repeatedly,
/// rounding up: skip(m) = ceil(size / 2^(q - m)) for q = ceil(log2 size). Place j of a rank is for the block
/// of rank (rank + j) mod size. Round m transfers the places [skip, skip + blocks).
///
/// * An *allgather* runs the rounds from first to last: place 0 is full at the start; a round sends places
///   [0, blocks) to `below` and receives places [skip, skip + blocks) from `above`.
/// * A *reduce-scatter* runs them from last to first (`reversed()`): a round sends places [skip, skip +
///   blocks) to `above` and combines the blocks received from `below` into places [0, blocks); place 0
///   becomes the result. The evaluation is not in rank order.
///
/// Cost: q rounds, size - 1 blocks in all.  Source: Traeff, "Optimal, non-pipelined reduce-scatter and
/// allreduce algorithms", 2024.
class circulant {
 public:
  /// What this rank does in a round.
  struct round {
    int index;   ///< m, from 0
    int above;   ///< (rank + skip) mod size
    int below;   ///< (rank - skip) mod size
    int skip;    ///< skip(m)
    int blocks;  ///< skip(m + 1) - skip(m), at most `skip`
  };
  /// The rounds from the last to the first.
  class backwards {
   public:
    constexpr backwards() = default;
    constexpr round operator[](int i) const;
    [[nodiscard]] constexpr auto begin() const { return index_iterator<backwards>{*this, 0}; }
    [[nodiscard]] constexpr auto end() const;

   private:
    friend class circulant;
    constexpr backwards(int rank, int size) : rank_(rank), size_(size) {}
    int rank_ = 0;
    int size_ = 1;
  };

  /// A group of one.
  constexpr circulant() = default;
  /// @throws error errc::invalid_argument if rank is outside [0, size).
  constexpr circulant(int rank, int size) : rank_(rank), size_(size) {
    detail::require_group("circulant", rank, size);
  }

  /// Distance of round m in [0, q); `size` for m = q.
  [[nodiscard]] static constexpr int skip(int m, int size) {
    return ((size - 1) >> (ceil_log2(size) - m)) + 1;
  }
  [[nodiscard]] constexpr int size() const { return ceil_log2(size_); }
  [[nodiscard]] constexpr bool empty() const { return size() == 0; }
  constexpr round operator[](int m) const {
    const int s = skip(m, size_);
    return {m, wrap(rank_ + s, size_), wrap(rank_ - s, size_), s, skip(m + 1, size_) - s};
  }
  [[nodiscard]] constexpr auto begin() const { return index_iterator<circulant>{*this, 0}; }
  [[nodiscard]] constexpr auto end() const { return index_iterator<circulant>{*this, size()}; }
  /// The same rounds, the last one first.
  [[nodiscard]] constexpr backwards reversed() const { return {rank_, size_}; }

 private:
  int rank_ = 0;
  int size_ = 1;
};

constexpr circulant::round circulant::backwards::operator[](int i) const {
  const circulant forwards{rank_, size_};
  return forwards[forwards.size() - 1 - i];
}
constexpr auto circulant::backwards::end() const {
  return index_iterator<backwards>{*this, ceil_log2(size_)};
}

}  // namespace chorale::topology
