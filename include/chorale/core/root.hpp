// SPDX-License-Identifier: Apache-2.0
// The root of a call.
#pragma once

#include <concepts>
#include <utility>

namespace chorale {

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

}  // namespace chorale
