// The requester: what becomes of the requests of a send queue.
#pragma once

#include <cstdint>
#include <memory>

#include "packet.hpp"
#include "queue_pair.hpp"

namespace chorale::simulation::device {

/// Hands to the adapter what may go: in order, reads up to their limit, fenced requests behind all reads.
void send_on(queue_pair& qp);
/// A message of a reliable connection found nobody who answers: it is sent again after the timeout, until
/// the retries are used up.
void lose(const message& what);
/// The last byte of a request leaves its adapter at `last`.
void all_left(queue_pair& qp, const request_name& name, instant last);
/// An answer has come to the requester it is for.
void take_answer(answer& what);
/// Pushes the completion of a request, if it gets one. `number`: how many were posted, this one included.
void complete(queue_pair& qp, const send_request& r, std::uint64_t number, ibv_wc_status status);

/// The request is over; completions come in order. Those behind a failed one are flushed.
void end(queue_pair& qp, send_request& r, ibv_wc_status status);
/// The request of that name, if it is still there; `first_try`: and has not been sent again since.
send_request* find_request(queue_pair& qp, const request_name& name, bool first_try) noexcept;
/// What a request sends from, or is to be filled: false if a local key does not allow it.
bool check_pieces(const queue_pair& qp, const send_request& r, int access) noexcept;
/// The payload, as it lies in memory now.
std::vector<std::byte> gather(const send_request& r);

}  // namespace chorale::simulation::device
