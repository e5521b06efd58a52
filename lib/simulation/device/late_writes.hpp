// RDMA writes whose bytes become visible late, and in any order.
#pragma once

#include "packet.hpp"
#include "queue_pair.hpp"

namespace chorale::simulation::device {

/// Places a write as a fabric may that keeps no order: some parts now, others later, when the writes behind
/// it and its completion at the requester have overtaken them. Precondition: `what` may write there.
void write_in_parts(queue_pair& qp, const message& what);
/// Places what is still late: a request that completes at the target, or that reads, is behind all of it.
void place_late(queue_pair& qp);

}  // namespace chorale::simulation::device
