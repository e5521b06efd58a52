// SPDX-License-Identifier: Apache-2.0
// Integer helpers that topologies share: logarithms, wrapping, and checks of rank, size and root.
#pragma once

#include <bit>
#include <string>

#include <chorale/core/error.hpp>

namespace chorale::topology {

/// The largest group of a topology; keeps every sum of a rank and a distance within `int`.
inline constexpr int max_size = 1 << 30;

/// A contiguous range of ranks, or of the blocks that belong to them: [first, first + count).
struct rank_range {
  int first = 0;  ///< rank
  int count = 0;  ///< number of ranks, including `first`
  friend constexpr bool operator==(const rank_range&, const rank_range&) = default;
};

/// floor(log2 n) for n >= 1.
constexpr int floor_log2(int n) noexcept {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(n))) - 1;
}

/// ceil(log2 n) for n >= 1.
constexpr int ceil_log2(int n) noexcept {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(n) - 1U));
}

/// Whether `n`, which is positive, is a power of two.
constexpr bool is_power_of_two(int n) noexcept {
  return n > 0 && std::has_single_bit(static_cast<unsigned>(n));
}

/// Number of zero bits below the lowest set bit of n >= 1.
constexpr int trailing_zeros(int n) noexcept {
  return std::countr_zero(static_cast<unsigned>(n));
}

/// `value` modulo `size` for a value in [-size, 2 * size).
constexpr int wrap(int value, int size) noexcept {
  return value < 0 ? value + size : value >= size ? value - size : value;
}

namespace detail {
[[noreturn]] inline void reject(const char* topology, const char* what, int value, const char* accepts) {
  throw error(errc::invalid_argument, std::string("topology::") + topology + ": " + what + " is " +
                                          std::to_string(value) + "; it must be " + accepts);
}

/// Refuses a rank or root outside the group. In a constant expression that is a compile error.
/// @throws error errc::invalid_argument naming the topology, the argument and its range.
constexpr void require_group(const char* topology, int rank, int size, int root = 0) {
  if (size < 1 || size > max_size) reject(topology, "size", size, "1 to 2^30");
  if (rank < 0 || rank >= size) reject(topology, "rank", rank, "0 to size - 1");
  if (root < 0 || root >= size) reject(topology, "root", root, "0 to size - 1");
}
}  // namespace detail

}  // namespace chorale::topology
