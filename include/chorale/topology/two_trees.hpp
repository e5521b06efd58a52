// Two binary trees, in which no rank has children in both.
#pragma once

#include <chorale/topology/arithmetic.hpp>
#include <chorale/topology/index_iterator.hpp>

namespace chorale::topology {

/// One rank's places in two binary trees. The root has one child in each; its other ranks, counted 1, 2, ...
/// from the root, are in order in both: what is left of a rank comes before it, what is right of it comes
/// after it. In the first tree rank v has position v, in the second position v + 1, and even positions alone
/// have children. So a rank that passes on what comes down one tree is a leaf of the other: if each tree
/// carries half of a message, no rank sends more than the whole of it, nor receives more.
///
/// With root 0 a combination of left, own and right operands is one in rank order. Cost: at most
/// ceil(log2 (size + 1)) steps down, size - 1 messages, in each tree.
/// Source: Sanders, Speck and Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan",
/// 2009; they mirror the second tree or shift it in a circle, which for some sizes is not in rank order.
class two_trees {
 public:
  /// At most two children, the left one first.
  class child_range {
   public:
    constexpr child_range() = default;
    [[nodiscard]] constexpr int size() const { return count_; }
    [[nodiscard]] constexpr bool empty() const { return count_ == 0; }
    /// Child `i` of [0, size()).
    constexpr int operator[](int i) const { return i == 0 ? first_ : second_; }
    [[nodiscard]] constexpr auto begin() const { return index_iterator<child_range>{*this, 0}; }
    [[nodiscard]] constexpr auto end() const { return index_iterator<child_range>{*this, count_}; }

   private:
    friend class two_trees;
    constexpr child_range(int left, int right)
        : first_(left >= 0 ? left : right), second_(right), count_((left >= 0) + (right >= 0)) {}
    int first_ = -1;
    int second_ = -1;
    int count_ = 0;
  };

  /// One rank's place in one of the trees.
  class tree {
   public:
    constexpr tree() = default;
    [[nodiscard]] constexpr bool is_root() const { return parent_ < 0; }
    /// -1 at the root.
    [[nodiscard]] constexpr int parent() const { return parent_; }
    /// The child before this rank, -1 if there is none; the root has none.
    [[nodiscard]] constexpr int left() const { return left_; }
    /// The child after this rank, -1 if there is none; the root's only one.
    [[nodiscard]] constexpr int right() const { return right_; }
    [[nodiscard]] constexpr child_range children() const { return {left_, right_}; }

   private:
    friend class two_trees;
    constexpr tree(int parent, int left, int right) : parent_(parent), left_(left), right_(right) {}
    int parent_ = -1;
    int left_ = -1;
    int right_ = -1;
  };

  /// A group of one.
  constexpr two_trees() = default;
  /// @throws error errc::invalid_argument if rank or root is outside [0, size).
  constexpr two_trees(int rank, int size, int root) : rank_(rank), size_(size), root_(root) {
    detail::require_group("two_trees", rank, size, root);
  }

  [[nodiscard]] static constexpr int size() { return 2; }
  /// Tree 0 or 1.
  constexpr tree operator[](int index) const {
    const int last = size_ - 1 + index;
    if (size_ == 1) return {};
    const int top = 1 << floor_log2(last);
    const auto rank_at = [&](int position) { return wrap(position - index + root_, size_); };
    if (rank_ == root_) return {-1, -1, rank_at(top)};
    const int position = wrap(rank_ - root_, size_) + index;
    const int bit = position & -position;
    int parent = root_;
    if (position != top) {
      const int above = (position ^ bit) | bit << 1;
      // Past the last position, what is there are the right children of ranks further up.
      parent = rank_at(above <= last ? above : position ^ bit);
    }
    const int half = bit / 2;
    const int left = half > 0 && position - half > index ? rank_at(position - half) : -1;
    int reach = half;
    while (reach > 0 && reach > last - position) reach /= 2;
    return {parent, left, reach > 0 ? rank_at(position + reach) : -1};
  }
  [[nodiscard]] constexpr auto begin() const { return index_iterator<two_trees>{*this, 0}; }
  [[nodiscard]] constexpr auto end() const { return index_iterator<two_trees>{*this, size()}; }

 private:
  int rank_ = 0;
  int size_ = 1;
  int root_ = 0;
};

}  // namespace chorale::topology
