// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <unistd.h>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include <chorale/core/cache_lines.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/core/result_copy.hpp>

namespace chorale {
namespace {

/// Bytes of the last-level cache.
std::size_t last_cache() noexcept {
  static const std::size_t bytes = [] {
    constexpr long guess = 32L << 20;  // if the system does not report it
    for (const int name : {_SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE})
      if (const long told = sysconf(name); told > 0) return static_cast<std::size_t>(told);
    return static_cast<std::size_t>(guess);
  }();
  return bytes;
}

#if defined(__x86_64__)
void copy_past_caches(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  const std::size_t before_line = (0 - reinterpret_cast<std::uintptr_t>(to)) % cache_line_bytes;
  const std::size_t head = std::min(bytes, before_line);
  std::memcpy(to, from, head);
  std::size_t at = head;
  for (; bytes - at >= cache_line_bytes; at += cache_line_bytes) {
    constexpr std::size_t ahead = 8 * cache_line_bytes;
    if (bytes - at > ahead) __builtin_prefetch(from + at + ahead);
    const auto* source = reinterpret_cast<const __m128i*>(from + at);
    auto* line = reinterpret_cast<__m128i*>(to + at);
    const __m128i first = _mm_loadu_si128(source);
    const __m128i second = _mm_loadu_si128(source + 1);
    const __m128i third = _mm_loadu_si128(source + 2);
    const __m128i fourth = _mm_loadu_si128(source + 3);
    _mm_stream_si128(line, first);
    _mm_stream_si128(line + 1, second);
    _mm_stream_si128(line + 2, third);
    _mm_stream_si128(line + 3, fourth);
  }
  std::memcpy(to + at, from + at, bytes - at);
  // Non-temporal stores are not ordered before a later store that announces the data.
  _mm_sfence();
}
#else
void copy_past_caches(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  std::memcpy(to, from, bytes);
}
#endif

}  // namespace

result_copy::result_copy(std::size_t bytes, int ranks) noexcept
    : passes_caches_(bytes > last_cache() / static_cast<std::size_t>(ranks)) {}

void result_copy::operator()(void* to, const void* from, std::size_t bytes) const noexcept {
  if (passes_caches_)
    copy_past_caches(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes);
  else
    std::memcpy(to, from, bytes);
  clock::copied(to, from, bytes);
}

}  // namespace chorale
