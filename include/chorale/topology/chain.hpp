// SPDX-License-Identifier: Apache-2.0
// Chain: each rank forwards to the next.
#pragma once

#include <chorale/topology/arithmetic.hpp>
#include <chorale/topology/child_range.hpp>

namespace chorale::topology {

/// One rank's place in the chain root, root + 1, ..., root - 1 (mod size); a tree in which every rank but the
/// last has one child. Cost: size - 1 steps until the last rank is reached; every rank sends once.
class chain {
  struct child {
    int rank = -1;
    constexpr int operator()(int, int) const { return rank; }
  };

 public:
  /// At most one child.
  using child_range = topology::child_range<child>;

  /// A group of one.
  constexpr chain() = default;
  /// @throws error errc::invalid_argument if rank or root is outside [0, size).
  constexpr chain(int rank, int size, int root) : rank_(rank), size_(size), root_(root) {
    detail::require_group("chain", rank, size, root);
  }

  [[nodiscard]] constexpr bool is_root() const { return rank_ == root_; }
  /// The rank before this one; -1 at the root.
  [[nodiscard]] constexpr int parent() const { return is_root() ? -1 : wrap(rank_ - 1, size_); }
  [[nodiscard]] constexpr child_range children() const {
    const int next = wrap(rank_ + 1, size_);
    return {{next}, next == root_ ? 0 : 1};
  }
  /// Hops from the root to this rank.
  [[nodiscard]] constexpr int depth() const { return wrap(rank_ - root_, size_); }

 private:
  int rank_ = 0;
  int size_ = 1;
  int root_ = 0;
};

}  // namespace chorale::topology
