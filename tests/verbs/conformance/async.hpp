// SPDX-License-Identifier: Apache-2.0
// Waits for asynchronous events, as long as a device may take.
#pragma once

#include <chrono>
#include <optional>

#include "../../../lib/verbs/async_event.hpp"
#include "scene.hpp"

namespace conformance {

/// The next event other than COMM_EST, which is optional; none after a minute.
inline std::optional<async_event> next_event(const rig& r, std::chrono::milliseconds longest = 60s) {
  const auto end = chorale::clock::now() + longest;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - chorale::clock::now());
    const auto event = next_async_event(r.device, std::max(left, std::chrono::milliseconds{0}));
    if (!event || event->type != IBV_EVENT_COMM_EST) return event;
  }
}

/// True if the next event is of this type. Soft-RoCE raises few events, so the wait there is short.
inline bool seen_event(const rig& r, ibv_event_type type, const void* object = nullptr) {
  const auto event = next_event(r, device_family() == "soft" ? 2000ms : 300ms);
  return event && event->type == type && (object == nullptr || event->object == object);
}

}  // namespace conformance
