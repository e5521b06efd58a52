// SPDX-License-Identifier: Apache-2.0
// Peers, roots and counts as arguments of calls, or one readable error.
#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

#include <chorale/calls/operand.hpp>
#include <chorale/core/arguments.hpp>
#include <chorale/core/neighbours.hpp>

namespace chorale::calls {

/// A peer as an argument.
struct peer_argument {
  int value;
  template <class Integer>
  constexpr peer_argument(Integer i) : value(to_int(i)) {}  // implicit, to accept any integer
  constexpr peer_argument(nobody_t none) : value(none) {}

 private:
  template <class Integer>
  static constexpr int to_int(Integer i) {
    static_assert(std::integral<Integer> && !std::same_as<Integer, bool>,
                  "chorale: the peer of a message is the number of a rank, an integer; is the order of the "
                  "arguments right?");
    if constexpr (std::integral<Integer>)
      return std::in_range<int>(i) ? static_cast<int>(i) : -2;
    else
      return -2;
  }
};

/// The root as an argument.
struct root_argument {
  int value = 0;
  constexpr root_argument() = default;
  constexpr root_argument(root given) : value(given.rank) {}  // implicit, as every call takes it
  template <class Other>
  constexpr root_argument(const Other&) {
    static_assert(!no_root<Other>,
                  "chorale: the root of a call is given as chorale::root{2}; is the order of the arguments "
                  "right?");
  }
};

/// Counts or displacements, one for each rank, in elements.
struct counts {
  std::span<const std::size_t> values;
  constexpr counts() = default;
  constexpr counts(std::initializer_list<std::size_t> list) : values(list.begin(), list.size()) {}
  template <class Range>
  constexpr counts(const Range& r)
      : values(to_span(r)) {}  // implicit, so that it accepts any range of std::size_t

 private:
  template <class Range>
  static constexpr std::span<const std::size_t> to_span(const Range& r) {
    if constexpr (std::same_as<Range, nothing_t>) {
      return {};
    } else if constexpr (argument::good_range<const Range&>) {
      static_assert(std::same_as<argument::element_of<const Range>, std::size_t>,
                    "chorale: counts and displacements are std::size_t, in elements");
      if constexpr (std::same_as<argument::element_of<const Range>, std::size_t>)
        return {std::ranges::data(r), std::ranges::size(r)};
      else
        return {};
    } else {
      static_assert(argument::good_range<const Range&>,
                    "chorale: counts are a contiguous range of std::size_t, one for each rank; is the order "
                    "of the arguments right?");
      return {};
    }
  }
};

}  // namespace chorale::calls
