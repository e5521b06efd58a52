// How often an adapter with a small cache would have had to fetch the context of a QP (P5 sections 2 and 3.2):
// what many connections cost, and one queue pair for all peers does not.
#pragma once

#include "layout.hpp"

namespace chorale::soft {

/// Uses the context of QP `index` in the adapter of `owner`, whose cache holds `contexts`: sets of four, the
/// least recently used goes. Several processes at once may miscount by a few.
inline void use_context(segment& owner, std::uint32_t index, std::uint32_t contexts) noexcept {
  constexpr std::uint32_t ways = 4;
  const std::uint32_t sets = contexts < ways ? 1 : contexts / ways;
  const std::uint32_t used_ways = contexts < ways ? contexts : ways;
  auto* set = &owner.contexts[(index * 0x9e3779b1U >> 16) % sets * ways];
  std::uint32_t carried = index + 1;
  for (std::uint32_t i = 0; i < used_ways; ++i) {
    carried = set[i].exchange(carried, std::memory_order_relaxed);
    if (carried == index + 1) {
      owner.context_hits.fetch_add(1, std::memory_order_relaxed);
      return;
    }
  }
  owner.context_misses.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace chorale::soft
