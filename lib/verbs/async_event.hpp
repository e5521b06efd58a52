// Asynchronous events: what a device reports outside any completion queue.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <chorale/verbs/device.hpp>

namespace chorale::verbs {

/// An event that was taken and acknowledged, so that destroying its object does not wait for it.
struct async_event {
  ibv_event_type type = IBV_EVENT_DEVICE_FATAL;
  /// The ibv_qp, ibv_cq or ibv_srq it is about, for comparison with `native()` only: another thread may have
  /// destroyed it meanwhile. nullptr for events of a port or the device.
  const void* object = nullptr;
  std::uint32_t qp_number = 0;  ///< of events of a queue pair
  std::uint8_t port = 0;        ///< of events of a port
  std::string text;             ///< "soft0: QP 0x12: connection established (COMM_EST)"
};

/// The next event of `owner`, or nothing when `longest` passed without; zero looks without waiting. One
/// thread at a time. @throws error if the device cannot be read.
std::optional<async_event> next_async_event(const device& owner, std::chrono::milliseconds longest);

}  // namespace chorale::verbs
