// SPDX-License-Identifier: Apache-2.0
// Star: every other rank is a child of the root.
#pragma once

#include <chorale/topology/arithmetic.hpp>
#include <chorale/topology/index_iterator.hpp>

namespace chorale::topology {

/// One rank's place in the tree whose root has all other ranks as children, in the order root + 1, root + 2,
/// ... (mod size). Cost: one step of size - 1 messages at the root.
class star {
 public:
  /// All ranks but the root, in ascending order from root + 1, wrapping around.
  class child_range {
   public:
    constexpr child_range() = default;
    [[nodiscard]] constexpr int size() const { return count_; }
    [[nodiscard]] constexpr bool empty() const { return count_ == 0; }
    /// Child `i` of [0, size()).
    constexpr int operator[](int i) const { return wrap(root_ + i + 1, count_ + 1); }
    [[nodiscard]] constexpr auto begin() const { return index_iterator<child_range>{*this, 0}; }
    [[nodiscard]] constexpr auto end() const { return index_iterator<child_range>{*this, count_}; }

   private:
    friend class star;
    constexpr child_range(int root, int count) : root_(root), count_(count) {}
    int root_ = 0;
    int count_ = 0;
  };

  /// A group of one.
  constexpr star() = default;
  /// @throws error errc::invalid_argument if rank or root is outside [0, size).
  constexpr star(int rank, int size, int root) : rank_(rank), size_(size), root_(root) {
    detail::require_group("star", rank, size, root);
  }

  [[nodiscard]] constexpr bool is_root() const { return rank_ == root_; }
  /// The root; -1 at the root.
  [[nodiscard]] constexpr int parent() const { return is_root() ? -1 : root_; }
  [[nodiscard]] constexpr child_range children() const { return {root_, is_root() ? size_ - 1 : 0}; }
  /// Hops from the root to this rank.
  [[nodiscard]] constexpr int depth() const { return is_root() ? 0 : 1; }

 private:
  int rank_ = 0;
  int size_ = 1;
  int root_ = 0;
};

}  // namespace chorale::topology
