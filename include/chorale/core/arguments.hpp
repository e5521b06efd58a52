// SPDX-License-Identifier: Apache-2.0
// Arguments of calls that are not data, each of a type of its own: in_place, nothing, root, initial.
#pragma once

#include <concepts>
#include <utility>

namespace chorale {

/// Means that an operand is already in the other buffer of the call, as MPI_IN_PLACE.
struct in_place_t {
  explicit in_place_t() = default;
};
inline constexpr in_place_t in_place{};  ///< The operand is in the other buffer.

/// Means that this rank has no such buffer, such as the result of a `gather` on ranks other than the root.
struct nothing_t {
  explicit nothing_t() = default;
};
inline constexpr nothing_t nothing{};  ///< This rank has no such buffer.

/// The rank whose data a call distributes, or that gets its result: `comm.broadcast(data, root{2})`. It has a
/// type of its own, so that it cannot be mistaken for data or for an operator.
struct root {
  int rank = 0;  ///< its number in the communicator
  constexpr root() = default;
  /// Any integer; one that does not fit into an `int` is not a rank of any communicator.
  template <std::integral Integer>
  constexpr explicit root(Integer number)
      : rank(std::in_range<int>(number) ? static_cast<int>(number) : -2) {}
};

/// The element with which an exclusive scan begins: `comm.exscan(n, initial{0}, sum)`. It has a type of its
/// own, so that it cannot be mistaken for what is scanned.
template <class Value>
struct initial {
  Value value;  ///< the element, or `elements` of one
  /// The first value of rank 0.
  constexpr explicit initial(const Value& first) : value(first) {}
};

}  // namespace chorale
