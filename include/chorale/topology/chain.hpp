// SPDX-License-Identifier: Apache-2.0
// Chain: each rank forwards to the next.
#pragma once

#include <chorale/topology/arithmetic.hpp>
#include <chorale/topology/index_iterator.hpp>

namespace chorale::topology {

/// One rank's place in the chain root, root + 1, ..., root - 1 (mod size); a tree in which every rank but the
/// last has one child. Cost: size - 1 steps until the last rank is reached; every rank sends once.
class chain {
 public:
  /// At most one child.
  class child_range {
   public:
    constexpr child_range() = default;
    [[nodiscard]] constexpr int size() const { return child_ < 0 ? 0 : 1; }
    [[nodiscard]] constexpr bool empty() const { return child_ < 0; }
    constexpr int operator[](int) const { return child_; }
    [[nodiscard]] constexpr auto begin() const { return index_iterator<child_range>{*this, 0}; }
    [[nodiscard]] constexpr auto end() const { return index_iterator<child_range>{*this, size()}; }

   private:
    friend class chain;
    explicit constexpr child_range(int child) : child_(child) {}
    int child_ = -1;
  };

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
    return child_range{next == root_ ? -1 : next};
  }
  /// Hops from the root to this rank.
  [[nodiscard]] constexpr int depth() const { return wrap(rank_ - root_, size_); }

 private:
  int rank_ = 0;
  int size_ = 1;
  int root_ = 0;
};

}  // namespace chorale::topology
