// SPDX-License-Identifier: Apache-2.0
// The message of a rank that has joined a group but cannot take part in it.
#pragma once

#include <chorale/transport/wire/datagram_port.hpp>

#include "../group/membership.hpp"

namespace chorale::transport {

/// Tells all other ranks, which would otherwise wait, that this rank could not make its communicator. Takes
/// at most 500 ms if datagrams cannot be sent.
void announce_no_start(datagram_port& port, const membership& members) noexcept;

}  // namespace chorale::transport
