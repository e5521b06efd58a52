// SPDX-License-Identifier: Apache-2.0
// Star: every other rank is a child of the root.
#pragma once

#include <chorale/topology/arithmetic.hpp>
#include <chorale/topology/child_range.hpp>

namespace chorale::topology {

/// One rank's place in the tree whose root has all other ranks as children, in the order root + 1, root + 2,
/// ... (mod size). Cost: one step of size - 1 messages at the root.
class star {
  struct child {
    int root = 0;
    constexpr int operator()(int i, int size) const { return wrap(root + i + 1, size + 1); }
  };

 public:
  /// All ranks but the root, in ascending order from root + 1, wrapping around.
  using child_range = topology::child_range<child>;

  /// A group of one.
  constexpr star() = default;
  /// @throws error errc::invalid_argument if rank or root is outside [0, size).
  constexpr star(int rank, int size, int root) : rank_(rank), size_(size), root_(root) {
    detail::require_group("star", rank, size, root);
  }

  [[nodiscard]] constexpr bool is_root() const { return rank_ == root_; }
  /// The root; -1 at the root.
  [[nodiscard]] constexpr int parent() const { return is_root() ? -1 : root_; }
  [[nodiscard]] constexpr child_range children() const { return {{root_}, is_root() ? size_ - 1 : 0}; }
  /// Hops from the root to this rank.
  [[nodiscard]] constexpr int depth() const { return is_root() ? 0 : 1; }

 private:
  int rank_ = 0;
  int size_ = 1;
  int root_ = 0;
};

}  // namespace chorale::topology
