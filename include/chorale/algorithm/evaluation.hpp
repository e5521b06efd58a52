// SPDX-License-Identifier: Apache-2.0
// The order in which a reduction algorithm combines operands.
#pragma once

#include <cstdint>

namespace chorale {

/// How an algorithm brackets its operands. Two algorithms with the same value, `serial` or `doubling`, give
/// the same bits for every operator, size and number of ranks.
enum class evaluation : std::uint8_t {
  own,        ///< a bracketing shared with no other algorithm
  serial,     ///< ((x_0 op x_1) op x_2) ..., as a loop over the ranks
  doubling,   ///< the tree of `allreduce::recursive_doubling`
  unordered,  ///< not in rank order, so only for results that do not depend on it
};

/// The `static constexpr auto evaluates` of algorithm A; `own` if it has none.
template <class Algorithm>
inline constexpr evaluation evaluation_of = evaluation::own;
template <class Algorithm>
requires requires { Algorithm::evaluates; }
inline constexpr evaluation evaluation_of<Algorithm> = Algorithm::evaluates;

}  // namespace chorale
