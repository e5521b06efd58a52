// SPDX-License-Identifier: Apache-2.0
// A message of a connection leaves its adapter one burst at a time.
#pragma once

#include <memory>

#include "packet.hpp"
#include "wire.hpp"

namespace chorale::simulation::device {

/// Sends a message, whose first burst is `first` and leaves as `leaves` says. Between bursts the adapter's
/// other queue pairs have their turns, while this one's next request waits until the last burst has left.
void send_in_bursts(std::unique_ptr<message> m, const outgoing& first, const departure& leaves);

}  // namespace chorale::simulation::device
