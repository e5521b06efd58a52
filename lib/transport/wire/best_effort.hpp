// SPDX-License-Identifier: Apache-2.0
// Sends an unacknowledged message to one of many ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <chorale/core/clock.hpp>
#include <chorale/transport/wire/control_channel.hpp>

namespace chorale::transport {

/// Sends `body` and `more`, retrying until the given time, and after that only if there is room at once.
/// Unreachable ranks are skipped. Not under the lock.
inline void send_best_effort(control_channel& channel, int to, std::uint16_t kind,
                             std::span<const std::byte> body, std::span<const std::byte> more,
                             clock::time_point patient_until) noexcept {
  try {
    if (clock::now() < patient_until)
      channel.send_patiently(to, kind, body, more);
    else
      channel.send(to, kind, body, more);
  } catch (...) {
    // The failure cannot be reported; the other ranks are still told, even if memory ran out for this one.
  }
}

}  // namespace chorale::transport
