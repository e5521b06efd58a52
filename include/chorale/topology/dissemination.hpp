// SPDX-License-Identifier: Apache-2.0
// Dissemination pattern: every rank has heard from every other, directly or not, after ceil(log2 n) rounds.
#pragma once

#include <chorale/topology/arithmetic.hpp>
#include <chorale/topology/index_iterator.hpp>

namespace chorale::topology {

/// The rounds of one rank: round m signals (rank + 2^m) mod size and waits for (rank - 2^m) mod size.
/// Cost: ceil(log2 size) rounds for any size, none for one rank.  Source: P1 section 3.2.
class dissemination {
 public:
  /// A round of this rank and its peers.
  struct round {
    int index;  ///< m, from 0
    int to;
    int from;
  };

  /// A group of one.
  constexpr dissemination() = default;
  /// @throws error errc::invalid_argument if rank is outside [0, size).
  constexpr dissemination(int rank, int size) : rank_(rank), size_(size) {
    detail::require_group("dissemination", rank, size);
  }

  [[nodiscard]] constexpr int size() const { return rounds_of(size_); }
  [[nodiscard]] constexpr bool empty() const { return size() == 0; }
  constexpr round operator[](int index) const {
    return {index, wrap(rank_ + (1 << index), size_), wrap(rank_ - (1 << index), size_)};
  }
  [[nodiscard]] constexpr auto begin() const { return index_iterator<dissemination>{*this, 0}; }
  [[nodiscard]] constexpr auto end() const { return index_iterator<dissemination>{*this, size()}; }

  /// ceil(log2 size).
  [[nodiscard]] static constexpr int rounds_of(int size) { return ceil_log2(size); }

 private:
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace chorale::topology
