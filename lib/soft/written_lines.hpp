// SPDX-License-Identifier: Apache-2.0
// Moves the cache lines of messages: written ones towards the reader, lines about to be written towards the
// writer.
#pragma once

#include <cstddef>
#include <cstdint>

#include <chorale/core/cache_lines.hpp>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace chorale::soft {

/// Messages whose lines are moved: longer than one line, which the reader polls in any case, and so short
/// that the reader waits for the whole message instead of reading one part while the next is written.
struct moved_lines {
  static constexpr std::size_t least_bytes = cache_line_bytes + 1;
  static constexpr std::size_t most_bytes = 36 * cache_line_bytes;
  /// From this size on the lines of the next message are fetched as well.
  static constexpr std::size_t least_ahead = 4 * cache_line_bytes;
};

/// Whether this processor has the instruction CLDEMOTE.
inline bool find_demotion() noexcept {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (c >> 25 & 1) != 0;
#else
  return false;
#endif
}
inline const bool has_demotion = find_demotion();

/// Whether this processor has the instruction PREFETCHW, as x86 processors of the last ten years do.
inline bool find_fetch_to_write() noexcept {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000001, &a, &b, &c, &d) != 0 && (c >> 8 & 1) != 0;
#else
  return false;
#endif
}
inline const bool has_fetch_to_write = find_fetch_to_write();

/// Moves lines just written to the cache that the cores share, as an adapter's writes go there: a reader on
/// another core finds them sooner. A hint; no effect if the processor does not support it.
inline void demote(const unsigned char* from, std::size_t bytes) noexcept {
#if defined(__x86_64__)
  if (!has_demotion) return;
  const auto first = reinterpret_cast<std::uintptr_t>(from) / cache_line_bytes * cache_line_bytes;
  const auto end = reinterpret_cast<std::uintptr_t>(from) + bytes;
  // As bytes, since assemblers accept the instruction only for processors that have it.
  for (auto line = first; line < end; line += cache_line_bytes)
    asm volatile(".byte 0x0f, 0x1c, 0x00" : : "a"(line) : "memory");
#else
  static_cast<void>(from);
  static_cast<void>(bytes);
#endif
}

/// Fetches lines about to be overwritten from the core that has read them, and takes them from it, so that
/// the stores find them here. A hint. Compilers for generic x86-64 turn `__builtin_prefetch` into a fetch for
/// reading, after which each store still waits for the other core to give up its copy.
inline void fetch_to_write(const unsigned char* to, std::size_t bytes) noexcept {
  const unsigned char* const end = to + bytes;
  to -= reinterpret_cast<std::uintptr_t>(to) % cache_line_bytes;
#if defined(__x86_64__)
  if (has_fetch_to_write) {
    for (; to < end; to += cache_line_bytes) asm volatile("prefetchw %0" : : "m"(*to));
    return;
  }
#endif
  for (; to < end; to += cache_line_bytes) __builtin_prefetch(to, 1);
}

}  // namespace chorale::soft
