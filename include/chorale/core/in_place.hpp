// What stands in a call for a buffer that is not there: in_place and nothing.
#pragma once

namespace chorale {

/// In the place of an operand that is in the other buffer of the call already, as MPI_IN_PLACE.
struct in_place_t {
  explicit in_place_t() = default;
};
inline constexpr in_place_t in_place{};  ///< Stands for the operand that is in the other buffer.

/// In the place of a buffer that this rank does not have: the result of a `gather` anywhere but at the root.
struct nothing_t {
  explicit nothing_t() = default;
};
inline constexpr nothing_t nothing{};  ///< Stands for a buffer that this rank does not have.

}  // namespace chorale
