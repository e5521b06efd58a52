// Queue pairs that fail: by their own requests, by a peer's, or with their completion queue.
#pragma once

#include <cstdint>

#include "queue_pair.hpp"

namespace chorale::simulation::device {

/// Brings back all that waits in a queue with WR_FLUSH_ERR. Receives of a shared queue stay: it raises
/// QP_LAST_WQE_REACHED instead.
void flush_sends(queue_pair& qp);
void flush_receives(queue_pair& qp);
/// A request of its own has failed: to ERR (unreliable ones: their send queue, to SQE).
void fail_requester(queue_pair& qp);
/// A peer's request was bad, or its own receive is: to ERR.
void fail_responder(queue_pair& qp, ibv_event_type event);
/// A completion queue has overrun; nothing made with it goes on.
void fail_overrun(hca& nic, std::uint32_t completion_queue);

}  // namespace chorale::simulation::device
