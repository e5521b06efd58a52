// All pairs: every rank meets every other once, in size - 1 steps without a hot spot.
#pragma once

#include <chorale/topology/arithmetic.hpp>
#include <chorale/topology/index_iterator.hpp>

namespace chorale::topology {

/// The steps of one rank in an alltoall. Where size is a power of two, step i exchanges with rank xor i; else
/// it sends to (rank + i) mod size and receives from (rank - i) mod size. Each rank is target of one in a
/// step. Source: P5 section 2.
class all_pairs {
 public:
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

}  // namespace chorale::topology
