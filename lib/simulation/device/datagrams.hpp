// SPDX-License-Identifier: Apache-2.0
// Datagrams to one queue pair, or to every member of a multicast group. What cannot be delivered is lost.
#pragma once

#include "queue_pair.hpp"
#include "wire.hpp"

namespace chorale::simulation::device {

/// Sends the datagram of a request.
void send_datagram(queue_pair& qp, const send_request& r, const outgoing& weight, const departure& leaves,
                   const traced& trace);

int attach_mcast(ibv_qp* qp, const union ibv_gid* gid, std::uint16_t lid) noexcept;
int detach_mcast(ibv_qp* qp, const union ibv_gid* gid, std::uint16_t lid) noexcept;

}  // namespace chorale::simulation::device
