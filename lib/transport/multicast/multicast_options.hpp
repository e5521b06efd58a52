// SPDX-License-Identifier: Apache-2.0
// Options of a rank's multicast protocol.
#pragma once

#include <cstddef>
#include <cstdint>

#include <chorale/core/clock.hpp>

namespace chorale::transport {

struct multicast_options {
  int rank = 0;
  int size = 1;
  std::uint64_t secret = 0;       ///< contained in each multicast
  std::size_t payload_bytes = 0;  ///< largest message
  clock::duration patience{};     ///< shortest time from the beginning of a wait to its first NAK
};

}  // namespace chorale::transport
