// Memory in whole cache lines.
#pragma once

#include <cstddef>

namespace chorale {

/// The unit of what ranks send each other, whatever their processors are.
inline constexpr std::size_t cache_line_bytes = 64;

/// The distance at which what several cores write does not slow them down. In memory of one host only, since
/// it depends on the processor: POWER's lines have 128 bytes, those of ARM 64 to 256.
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

/// The same to a multiple of `cache_line_spacing`.
constexpr std::size_t in_spacing(std::size_t bytes) noexcept {
  return (bytes + cache_line_spacing - 1) / cache_line_spacing * cache_line_spacing;
}

}  // namespace chorale
