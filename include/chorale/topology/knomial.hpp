// SPDX-License-Identifier: Apache-2.0
// K-nomial tree: a binomial tree of any radix.
#pragma once

#include <algorithm>

#include <chorale/topology/arithmetic.hpp>
#include <chorale/topology/child_range.hpp>

namespace chorale::topology {

/// One rank's place in the k-nomial tree of `size` ranks with root `root`; any size, any root.
///
/// In virtual ranks v = (rank - root) mod size, written as numbers of base k: the parent of v is v with its
/// lowest digit other than 0 set to 0. In step m from the highest on, each rank that has the message sends it
/// to k - 1 others, at distances j k^m. Cost: ceil(log_k size) steps of k - 1 messages: fewer steps than
/// `binomial`, the tree of radix 2, but more messages per rank. Source: the binomial tree of P2 section 4.1,
/// with the radix of `dissemination_k`.
class knomial {
  struct child {
    int rank = 0;
    int group = 1;
    int radix = 2;
    int step = 1;     ///< distance to the first child
    int highest = 0;  ///< children in the highest step, the only one that can be incomplete
    constexpr int operator()(int i, int) const {
      if (i < highest) return wrap(rank + (i + 1) * step, group);
      const int each = radix - 1;
      int lower = step / radix;
      for (i -= highest; i >= each; i -= each) lower /= radix;
      return wrap(rank + (i + 1) * lower, group);
    }
  };

 public:
  /// The children of one rank as real ranks, in sending order: largest subtrees first.
  using child_range = topology::child_range<child>;

  /// A group of one.
  constexpr knomial() = default;
  /// @throws error errc::invalid_argument if rank or root is outside [0, size), or radix is less than 2.
  constexpr knomial(int rank, int size, int root, int radix)
      : rank_(rank), size_(size), root_(root), radix_(radix) {
    detail::require_group("knomial", rank, size, root);
    if (radix < 2) detail::reject("knomial", "radix", radix, "at least 2");
    virtual_ = wrap(rank - root, size);
  }

  [[nodiscard]] constexpr bool is_root() const { return virtual_ == 0; }
  /// Real rank of the parent; -1 at the root.
  [[nodiscard]] constexpr int parent() const {
    if (is_root()) return -1;
    const int step = lowest_step();
    return wrap(virtual_ - virtual_ / step % radix_ * step + root_, size_);
  }
  [[nodiscard]] constexpr child_range children() const {
    // Distances to children are below this.
    const int reach = is_root() ? size_ : std::min(size_ - virtual_, lowest_step());
    if (reach <= 1) return {};
    child nth{rank_, size_, radix_};
    int lower = 0;
    for (; nth.step <= (reach - 1) / radix_; nth.step *= radix_) ++lower;
    nth.highest = (reach - 1) / nth.step;
    return {nth, nth.highest + lower * (radix_ - 1)};
  }
  /// Hops from the root to this rank; 0 at the root.
  [[nodiscard]] constexpr int depth() const {
    int hops = 0;
    for (int rest = virtual_; rest != 0; rest /= radix_) hops += rest % radix_ != 0 ? 1 : 0;
    return hops;
  }

 private:
  /// The value of the lowest digit other than 0. Precondition: this is not the root.
  [[nodiscard]] constexpr int lowest_step() const {
    int step = 1;
    while (virtual_ / step % radix_ == 0) step *= radix_;
    return step;
  }

  int rank_ = 0;
  int size_ = 1;
  int root_ = 0;
  int radix_ = 2;
  int virtual_ = 0;
};

}  // namespace chorale::topology
