// SPDX-License-Identifier: Apache-2.0
// Degree-k tree: a rank receives from at most k others in a step.
#pragma once

#include <chorale/topology/arithmetic.hpp>
#include <chorale/topology/child_range.hpp>

namespace chorale::topology {

/// Degrees the tree is defined for: k = 2^m - 1 with m >= 1.
constexpr bool valid_degree(int k) noexcept {
  return k >= 1 && k < max_size && is_power_of_two(k + 1);
}

/// One rank's place in the degree-k reduce tree; any size.
///
/// In step s, at distance d = (k + 1)^s, a rank that is a multiple of d (k + 1) receives from rank + d, rank
/// + 2 d, ..., rank + k d, as far as they exist; the senders have then finished. The last step has a smaller
/// degree if size is not a power of k + 1.
///
/// Every subtree is a contiguous range of ranks that begins at its head, and children() lists the subtrees in
/// ascending order. So `for (child : children()) mine = op(mine, child's)` evaluates in rank order, and
/// operators need not commute. For this order the tree always consists of real ranks with rank 0 at its head;
/// if another rank is the root, rank 0 forwards the result in one more message (deliver_to(),
/// deliver_from()).
///
/// Cost: steps_of(size, k) = ceil(log_{k+1} size) steps; size - 1 messages, one more for a root other than 0.
/// Source: P2 section 4.2, figures 3 and 4; P1 section 3.3 for the gather tree.
class degree_k {
  struct child {
    int rank = 0;
    int bits = 1;
    int first = 0;  ///< index among all children of the rank
    /// Only the last step can be incomplete; every earlier one has k children.
    constexpr int operator()(int i, int) const {
      const int degree = (1 << bits) - 1;
      const int at = first + i;
      return rank + ((at % degree + 1) << (bits * (at / degree)));
    }
  };

 public:
  /// The children of one rank in the order in which they are received and combined: those of step 0
  /// ascending, then those of step 1, ...; this is ascending rank order throughout.
  using child_range = topology::child_range<child>;

  /// A group of one.
  constexpr degree_k() = default;
  /// `root` is the rank that gets the result; the head of the tree is rank 0 for any root.
  /// @throws error errc::invalid_argument if rank or root is outside [0, size), or degree is not 2^m - 1.
  constexpr degree_k(int rank, int size, int degree, int root = 0) : rank_(rank), size_(size), root_(root) {
    detail::require_group("degree_k", rank, size, root);
    if (!valid_degree(degree)) detail::reject("degree_k", "degree", degree, "2^m - 1: 1, 3, 7, 15, ...");
    bits_ = floor_log2(degree + 1);
  }

  /// True at the head of the tree, rank 0, where the combination ends.
  [[nodiscard]] constexpr bool is_root() const { return rank_ == 0; }
  /// The rank that gets the result of this rank's subtree; -1 at the head.
  [[nodiscard]] constexpr int parent() const {
    if (is_root()) return -1;
    return static_cast<int>(rank_ & ~((1LL << (bits_ * (steps() + 1))) - 1));
  }
  [[nodiscard]] constexpr child_range children() const {
    int count = 0;
    for (int step = 0; step < steps(); ++step) count += children_in(step);
    return {{rank_, bits_, 0}, count};
  }
  /// The children of one step in [0, steps()), at most k.
  [[nodiscard]] constexpr child_range children(int step) const {
    return {{rank_, bits_, step * degree()}, children_in(step)};
  }
  /// Number of steps in which this rank may receive. A rank other than 0 sends in the step after these.
  [[nodiscard]] constexpr int steps() const {
    return is_root() ? steps_of(size_, degree()) : trailing_zeros(rank_) / bits_;
  }
  /// The ranks whose operands are in this rank's result.
  [[nodiscard]] constexpr rank_range subtree() const {
    const long long full = is_root() ? size_ : 1LL << (bits_ * steps());
    return {rank_, full < size_ - rank_ ? static_cast<int>(full) : size_ - rank_};
  }
  /// k.
  [[nodiscard]] constexpr int degree() const { return (1 << bits_) - 1; }

  /// At rank 0: the root that the result is forwarded to, -1 if that is rank 0 itself. Elsewhere -1.
  [[nodiscard]] constexpr int deliver_to() const { return rank_ == 0 && root_ != 0 ? root_ : -1; }
  /// At a root other than rank 0: the rank (0) that the result comes from. Elsewhere -1.
  [[nodiscard]] constexpr int deliver_from() const { return rank_ != 0 && rank_ == root_ ? 0 : -1; }

  /// ceil(log_{degree+1} size), the steps until rank 0 has the operands of all ranks.
  /// @throws error errc::invalid_argument if degree is not 2^m - 1.
  [[nodiscard]] static constexpr int steps_of(int size, int degree) {
    if (!valid_degree(degree)) detail::reject("degree_k", "degree", degree, "2^m - 1: 1, 3, 7, 15, ...");
    const int bits = floor_log2(degree + 1);
    return (ceil_log2(size) + bits - 1) / bits;
  }

 private:
  [[nodiscard]] constexpr int children_in(int step) const {
    const int reachable = (size_ - 1 - rank_) >> (bits_ * step);
    return reachable < degree() ? reachable : degree();
  }

  int rank_ = 0;
  int size_ = 1;
  int root_ = 0;
  int bits_ = 1;
};

}  // namespace chorale::topology
