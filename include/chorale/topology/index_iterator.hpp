// SPDX-License-Identifier: Apache-2.0
// The iterator of all ranges of steps: an index into an object that computes its elements.
#pragma once

#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

namespace chorale::topology {

/// Forward iterator over `steps[0]`, `steps[1]`, ... It holds a copy of `Steps` (a few integers), so it may
/// outlive a temporary: `for (int child : binomial{r, n, root}.children())` is correct.
template <class Steps>
class index_iterator {
 public:
  using value_type = std::remove_cvref_t<decltype(std::declval<const Steps&>()[0])>;
  using reference = value_type;
  using difference_type = std::ptrdiff_t;
  using iterator_category =
      std::input_iterator_tag;  // elements are computed; a C++17 forward iterator must return references
  using iterator_concept = std::forward_iterator_tag;

  constexpr index_iterator() = default;
  constexpr index_iterator(const Steps& steps, int index) : steps_(steps), index_(index) {}

  constexpr value_type operator*() const { return steps_[index_]; }
  constexpr index_iterator& operator++() {
    ++index_;
    return *this;
  }
  constexpr index_iterator operator++(int) {
    index_iterator before = *this;
    ++index_;
    return before;
  }
  /// Precondition: both iterators belong to the same range.
  friend constexpr bool operator==(const index_iterator& a, const index_iterator& b) {
    return a.index_ == b.index_;
  }

 private:
  Steps steps_{};
  int index_ = 0;
};

}  // namespace chorale::topology
