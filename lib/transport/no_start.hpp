// What a rank says that has joined a group and then cannot take part in it.
#pragma once

#include <chorale/transport/datagram_port.hpp>

#include "membership.hpp"

namespace chorale::transport {

/// Tells all other ranks that this one could not make its communicator: they would wait for it. Takes 500 ms
/// at most if nothing leaves.
void tell_of_no_start(datagram_port& port, const membership& members) noexcept;

}  // namespace chorale::transport
