// Memory in whole cache lines.
#pragma once

#include <cstddef>

namespace chorale {

inline constexpr std::size_t cache_line_bytes = 64;

/// `bytes` rounded up to whole cache lines.
constexpr std::size_t in_cache_lines(std::size_t bytes) noexcept {
  return (bytes + cache_line_bytes - 1) / cache_line_bytes * cache_line_bytes;
}

}  // namespace chorale
