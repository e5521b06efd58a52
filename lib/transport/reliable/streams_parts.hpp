// SPDX-License-Identifier: Apache-2.0
// Helpers shared by both halves of `streams`, messages and memory; inlined into each of their operations.
#pragma once

#include <cstdint>

#include <chorale/transport/reliable/streams.hpp>

#include "../liveness/awaited.hpp"
#include "stream_table.hpp"

namespace chorale::transport::reliable {

inline void streams::require_sound(int peer) const {
  if (!table_->broken(peer).empty()) [[unlikely]]
    lose(peer);
}

inline void streams::await(int from) {
  if (!table_->await(from, clock::now())) [[unlikely]]
    lose(from);
}

template <class Take>
[[gnu::always_inline]] inline bool streams::attempt(int from, call_id now, const Take& take) {
  return take_awaited(
      *lock_, take, [this] { return owner_->channel().read(); }, [this, from] { await(from); },
      [&](std::uint32_t seen) { owner_->inquiry().mismatch(from, now, seen); });
}

}  // namespace chorale::transport::reliable
