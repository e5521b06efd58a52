// SPDX-License-Identifier: Apache-2.0
// Failures of queue pairs: by their own requests, by a peer's, or by their completion queue.
#pragma once

#include <cstdint>

#include "queue_pair.hpp"

namespace chorale::simulation::device {

/// Completes everything in a queue with WR_FLUSH_ERR. Receives of a shared queue stay: the queue pair raises
/// QP_LAST_WQE_REACHED instead.
void flush_sends(queue_pair& qp);
void flush_receives(queue_pair& qp);
/// One of the queue pair's own requests has failed: to ERR (unreliable ones: the send queue to SQE).
void fail_requester(queue_pair& qp);
/// A peer's request, or a receive of this queue pair, was invalid: to ERR.
void fail_responder(queue_pair& qp, ibv_event_type event);
/// A completion queue has overrun: all queue pairs that use it fail.
void fail_overrun(hca& nic, std::uint32_t completion_queue);

}  // namespace chorale::simulation::device
