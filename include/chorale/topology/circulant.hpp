// Circulant graphs: reductions and gatherings in ceil(log2 n) rounds, for any n.
#pragma once

#include <chorale/topology/arithmetic.hpp>
#include <chorale/topology/index_iterator.hpp>

namespace chorale::topology {

/// The rounds of one rank over the circulant graph of which the distances are n halved again and again and
/// rounded up: skip(m) = ceil(size / 2^(q - m)) for q = ceil(log2 size). Place j of a rank stands for rank
/// (rank + j) mod size, and round m of a rank has to do with the places [skip, skip + blocks).
///
/// * An *allgather* makes the rounds from the first to the last: place 0 is full at the start, and places [0,
///   blocks) go to `below`, while places [skip, skip + blocks) come from `above`.
/// * A *reduce-scatter* makes them from the last to the first, in `reversed()` order: places [skip, skip +
///   blocks) go to `above`, and what comes from `below` is combined into places [0, blocks); place 0 is the
///   result. What is combined is not in the order of the ranks.
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

  /// Distance of round m in [0, q), and the size for m = q.
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
