// Sends an unacknowledged message to one of many ranks.
#pragma once

#include <cstdint>

#include <chorale/core/clock.hpp>
#include <chorale/core/error.hpp>
#include <chorale/transport/control_channel.hpp>

namespace chorale::transport {

/// Sends `words(to)`, retrying until the given time, and after that only if there is room at once.
/// Unreachable ranks are skipped. Not under the lock.
template <class Words>
void tell(control_channel& channel, int to, std::uint16_t kind, const Words& words,
          clock::time_point patient_until) {
  try {
    if (clock::now() < patient_until)
      channel.insist(to, kind, words(to));
    else
      channel.send(to, kind, words(to));
  } catch (const error&) {
    // There would be nobody to report this to.
  }
}

}  // namespace chorale::transport
