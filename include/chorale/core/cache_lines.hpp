// SPDX-License-Identifier: Apache-2.0
// Sizes in whole cache lines.
#pragma once

#include <cstddef>

namespace chorale {

/// The unit of messages between ranks, the same on all processors.
inline constexpr std::size_t cache_line_bytes = 64;

/// The spacing that avoids false sharing between cores. Only for memory of one host, since it depends on the
/// processor: cache lines have 128 bytes on POWER, 64 to 256 on ARM.
#if defined(__x86_64__)
inline constexpr std::size_t cache_line_spacing = 64;
#else
inline constexpr std::size_t cache_line_spacing = 128;
#endif
static_assert(cache_line_spacing % cache_line_bytes == 0);

/// `bytes` rounded up to whole cache lines.
constexpr std::size_t in_cache_lines(std::size_t bytes) noexcept {
  return (bytes + cache_line_bytes - 1) / cache_line_bytes * cache_line_bytes;
}

/// `bytes` rounded up to a multiple of `cache_line_spacing`.
constexpr std::size_t in_spacing(std::size_t bytes) noexcept {
  return (bytes + cache_line_spacing - 1) / cache_line_spacing * cache_line_spacing;
}

}  // namespace chorale
