// Telling one of many what nobody answers.
#pragma once

#include <cstdint>

#include <chorale/core/clock.hpp>
#include <chorale/core/error.hpp>
#include <chorale/transport/control_channel.hpp>

namespace chorale::transport {

/// Sends `words(to)`, patiently until that time, from then on if there is room at once. A rank that cannot be
/// reached does not keep the others from hearing it. Not under the lock.
template <class Words>
void tell(control_channel& channel, int to, std::uint16_t kind, const Words& words,
          clock::time_point patient_until) {
  try {
    if (clock::now() < patient_until)
      channel.insist(to, kind, words(to));
    else
      channel.send(to, kind, words(to));
  } catch (const error&) {
    // Nor would anybody be told of this.
  }
}

}  // namespace chorale::transport
