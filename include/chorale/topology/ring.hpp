// SPDX-License-Identifier: Apache-2.0
// Ring: blocks travel from left to right, one hop per step.
#pragma once

#include <chorale/topology/arithmetic.hpp>
#include <chorale/topology/index_iterator.hpp>

namespace chorale::topology {

/// The steps of one rank in a ring allgather: in step i it sends block (rank - i) mod size to the right and
/// receives block (rank - i - 1) mod size from the left, where block b is that of rank b. Cost: size - 1
/// steps of one block each. Source: P4 section 2.3.
class ring {
 public:
  /// What this rank does in a step.
  struct step {
    int index;          ///< from 0
    int to;             ///< always right()
    int from;           ///< always left()
    int send_block;     ///< own block in step 0, then the block received in the previous step
    int receive_block;  ///< block received from the left in this step
  };

  /// A group of one.
  constexpr ring() = default;
  /// @throws error errc::invalid_argument if rank is outside [0, size).
  constexpr ring(int rank, int size) : rank_(rank), size_(size) { detail::require_group("ring", rank, size); }

  /// The rank before this one, wrapping around.
  [[nodiscard]] constexpr int left() const { return wrap(rank_ - 1, size_); }
  /// The rank after this one, wrapping around.
  [[nodiscard]] constexpr int right() const { return wrap(rank_ + 1, size_); }
  /// Number of steps: one less than the number of ranks.
  [[nodiscard]] constexpr int size() const { return size_ - 1; }
  [[nodiscard]] constexpr bool empty() const { return size() == 0; }
  constexpr step operator[](int i) const {
    return {i, right(), left(), wrap(rank_ - i, size_), wrap(rank_ - i - 1, size_)};
  }
  [[nodiscard]] constexpr auto begin() const { return index_iterator<ring>{*this, 0}; }
  [[nodiscard]] constexpr auto end() const { return index_iterator<ring>{*this, size()}; }

 private:
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace chorale::topology
