// How often an adapter with a small cache would have had to fetch the context of a QP (P5 sections 2 and
// 3.2), and what that costs: what many connections pay, and one queue pair for all peers does not.
#pragma once

#include <chrono>

#include <chorale/core/clock.hpp>

#include "engine.hpp"
#include "layout.hpp"

namespace chorale::soft {

/// Whether the context of QP `index` is in the cache of the adapter of `owner`, which holds `contexts`: sets
/// of four, the least recently used goes. Then it is. Several processes at once may miscount by a few.
inline bool find_context(segment& owner, std::uint32_t index, std::uint32_t contexts) noexcept {
  constexpr std::uint32_t ways = 4;
  const std::uint32_t sets = contexts < ways ? 1 : contexts / ways;
  const std::uint32_t used_ways = contexts < ways ? contexts : ways;
  auto* set = &owner.contexts[(index * 0x9e3779b1U >> 16) % sets * ways];
  std::uint32_t carried = index + 1;
  for (std::uint32_t i = 0; i < used_ways; ++i) {
    carried = set[i].exchange(carried, std::memory_order_relaxed);
    if (carried == index + 1) {
      owner.context_hits.fetch_add(1, std::memory_order_relaxed);
      return true;
    }
  }
  owner.context_misses.fetch_add(1, std::memory_order_relaxed);
  return false;
}

/// Uses that context. A miss takes `context_miss_ns`, in which the caller does the adapter's work and nothing
/// else: the adapter of a peer is waited for like that of this process.
inline void use_context(segment& owner, std::uint32_t index, const engine_settings& settings) noexcept {
  if (find_context(owner, index, settings.contexts) || settings.context_miss_ns == 0) return;
  const std::chrono::nanoseconds takes{settings.context_miss_ns};
  if (clock::is_replaced()) return clock::sleep_for(takes);
  const auto end = clock::now() + takes;
  while (clock::now() < end) pause();
}

}  // namespace chorale::soft
