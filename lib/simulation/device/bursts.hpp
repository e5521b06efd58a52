// A message of a connection on its way out of its adapter, one burst at a time.
#pragma once

#include <memory>

#include "packet.hpp"
#include "wire.hpp"

namespace chorale::simulation::device {

/// Sends a message, whose first burst is `first` and leaves as `leaves` says. Behind each burst the other
/// queue pairs of the adapter have their turn, while this one's next request waits until the last has left.
void send_in_bursts(std::unique_ptr<message> m, const outgoing& first, const departure& leaves);

}  // namespace chorale::simulation::device
