// SPDX-License-Identifier: Apache-2.0
// The children of a rank in any tree: how many, and a function of their index.
#pragma once

#include <chorale/topology/index_iterator.hpp>

namespace chorale::topology {

/// The children of one rank as real ranks. `Child`, a few integers, computes each from its index and from how
/// many there are.
template <class Child>
class child_range {
 public:
  constexpr child_range() = default;
  constexpr child_range(const Child& child, int size) : child_(child), size_(size) {}

  [[nodiscard]] constexpr int size() const { return size_; }
  [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
  /// Child `i` of [0, size()).
  constexpr int operator[](int i) const { return child_(i, size_); }
  [[nodiscard]] constexpr auto begin() const { return index_iterator<child_range>{*this, 0}; }
  [[nodiscard]] constexpr auto end() const { return index_iterator<child_range>{*this, size_}; }

 private:
  Child child_{};
  int size_ = 0;
};

}  // namespace chorale::topology
