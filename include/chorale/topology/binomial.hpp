// SPDX-License-Identifier: Apache-2.0
// Binomial tree: broadcast downwards, gather or reduce upwards.
#pragma once

#include <bit>

#include <chorale/topology/arithmetic.hpp>
#include <chorale/topology/child_range.hpp>

namespace chorale::topology {

/// One rank's place in the binomial tree of `size` ranks with root `root`; any size, any root.
///
/// In virtual ranks v = (rank - root) mod size: the parent of v is v without its lowest set bit, and the
/// subtree of v is the contiguous range of virtual ranks [v, v + subtree_size()). Cost: ceil(log2 size) steps
/// until the last rank is reached.  Source: P2 section 4.1, figure 1.
class binomial {
  struct child {
    int rank = 0;
    int group = 1;
    int farthest = 0;  ///< distance to the first child
    constexpr int operator()(int i, int) const { return wrap(rank + (farthest >> i), group); }
  };

 public:
  /// The children of one rank as real ranks, in sending order: largest subtree first.
  using child_range = topology::child_range<child>;

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
  [[nodiscard]] constexpr child_range children() const {
    const int count = ceil_log2(subtree_size());
    return {{rank_, size_, 1 << count >> 1}, count};
  }
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
