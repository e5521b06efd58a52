// SPDX-License-Identifier: Apache-2.0
// Binomial tree: broadcast downwards, gather or reduce upwards.
#pragma once

#include <bit>

#include <chorale/topology/arithmetic.hpp>
#include <chorale/topology/index_iterator.hpp>

namespace chorale::topology {

/// One rank's place in the binomial tree of `size` ranks with root `root`; any size, any root.
///
/// In virtual ranks v = (rank - root) mod size: the parent of v is v without its lowest set bit, and the
/// subtree of v is the contiguous range of virtual ranks [v, v + subtree_size()). Cost: ceil(log2 size) steps
/// until the last rank is reached.  Source: P2 section 4.1, figure 1.
class binomial {
 public:
  /// The children of one rank as real ranks, in sending order: largest subtree first.
  class child_range {
   public:
    constexpr child_range() = default;
    [[nodiscard]] constexpr int size() const { return count_; }
    [[nodiscard]] constexpr bool empty() const { return count_ == 0; }
    /// Child `i` of [0, size()).
    constexpr int operator[](int i) const { return wrap(rank_ + ((1 << (count_ - 1)) >> i), group_); }
    [[nodiscard]] constexpr auto begin() const { return index_iterator<child_range>{*this, 0}; }
    [[nodiscard]] constexpr auto end() const { return index_iterator<child_range>{*this, count_}; }

   private:
    friend class binomial;
    constexpr child_range(int rank, int group, int count) : rank_(rank), group_(group), count_(count) {}
    int rank_ = 0;
    int group_ = 1;
    int count_ = 0;
  };

  /// A group of one.
  constexpr binomial() = default;
  /// @throws error errc::invalid_argument if rank or root is outside [0, size).
  constexpr binomial(int rank, int size, int root) : rank_(rank), size_(size), root_(root) {
    detail::require_group("binomial", rank, size, root);
    virtual_ = wrap(rank - root, size);
  }

  [[nodiscard]] constexpr bool is_root() const { return virtual_ == 0; }
  /// Real rank of the parent; -1 at the root.
  [[nodiscard]] constexpr int parent() const {
    return is_root() ? -1 : wrap((virtual_ & (virtual_ - 1)) + root_, size_);
  }
  /// The distances to the children are the powers of two below subtree_size().
  [[nodiscard]] constexpr child_range children() const { return {rank_, size_, ceil_log2(subtree_size())}; }
  /// Number of ranks in the subtree of this rank, including itself.
  [[nodiscard]] constexpr int subtree_size() const {
    if (is_root()) return size_;
    const int full = virtual_ & -virtual_;
    return full < size_ - virtual_ ? full : size_ - virtual_;
  }
  /// Hops from the root to this rank; 0 at the root.
  [[nodiscard]] constexpr int depth() const { return std::popcount(static_cast<unsigned>(virtual_)); }

 private:
  int rank_ = 0;
  int size_ = 1;
  int root_ = 0;
  int virtual_ = 0;
};

}  // namespace chorale::topology
