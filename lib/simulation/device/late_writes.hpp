// SPDX-License-Identifier: Apache-2.0
// RDMA writes whose bytes become visible late, and in any order.
#pragma once

#include "packet.hpp"
#include "queue_pair.hpp"

namespace chorale::simulation::device {

/// Places a write as a fabric without ordering may: some parts now, others after later writes, or after the
/// requester's completion. Precondition: `what` may write there.
void write_in_parts(queue_pair& qp, const message& what);
/// Places all late parts: they precede any request that completes at the target, or that reads.
void place_late(queue_pair& qp);

}  // namespace chorale::simulation::device
