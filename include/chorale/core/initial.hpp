// SPDX-License-Identifier: Apache-2.0
// The initial value of an exclusive scan.
#pragma once

namespace chorale {

/// The element with which an exclusive scan begins: `comm.exscan(n, initial{0}, sum)`. It has a type of its
/// own, so that it cannot be mistaken for what is scanned.
template <class Value>
struct initial {
  Value value;  ///< the element, or `elements` of one
  /// The first value of rank 0.
  constexpr explicit initial(const Value& first) : value(first) {}
};

}  // namespace chorale
