// SPDX-License-Identifier: Apache-2.0
// Placeholders for buffers in calls: in_place and nothing.
#pragma once

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

}  // namespace chorale
