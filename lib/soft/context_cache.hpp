// SPDX-License-Identifier: Apache-2.0
// Models an adapter's cache of QP contexts (P5 sections 2 and 3.2): counts misses and charges their cost,
// which grows with the number of connections; a single queue pair for all peers has none.
#pragma once

#include <chrono>

#include <chorale/core/clock.hpp>

#include "engine.hpp"
#include "layout.hpp"

namespace chorale::soft {

/// Whether the context of QP `index` is in the cache of `owner`'s adapter, which holds `contexts` in sets of
/// four with least-recently-used eviction; inserts it if not. Concurrent processes may cause a small
/// miscount.
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

/// Uses that context. A miss takes `context_miss_ns`, during which the caller waits: for a peer's adapter as
/// for its own.
inline void use_context(segment& owner, std::uint32_t index, const engine_settings& settings) noexcept {
  if (find_context(owner, index, settings.contexts) || settings.context_miss_ns == 0) return;
  const std::chrono::nanoseconds takes{settings.context_miss_ns};
  if (clock::is_replaced()) return clock::sleep_for(takes);
  const auto end = clock::now() + takes;
  while (clock::now() < end) pause();
}

}  // namespace chorale::soft
