// SPDX-License-Identifier: Apache-2.0
// Asynchronous events: reports of a device outside completion queues.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <chorale/verbs/device.hpp>

namespace chorale::verbs {

/// An event that was read and acknowledged, so that destroying its object does not wait for it.
struct async_event {
  ibv_event_type type = IBV_EVENT_DEVICE_FATAL;
  /// The ibv_qp, ibv_cq or ibv_srq of the event, only for comparison with `native()`: another thread may have
  /// destroyed the object meanwhile. nullptr for events of a port or the device.
  const void* object = nullptr;
  std::uint32_t qp_number = 0;  ///< of events of a queue pair
  std::uint8_t port = 0;        ///< of events of a port
  std::string text;             ///< "soft0: QP 0x12: connection established (COMM_EST)"
};

/// The next event of `owner`; nothing if none arrives within `longest`. Zero checks without waiting. One
/// thread at a time. @throws error if the device cannot be read.
std::optional<async_event> next_async_event(const device& owner, std::chrono::milliseconds longest);

}  // namespace chorale::verbs
