// SPDX-License-Identifier: Apache-2.0
// The requester: the requests of a send queue and their fate.
#pragma once

#include <cstdint>
#include <memory>

#include "packet.hpp"
#include "queue_pair.hpp"
#include "wire.hpp"

namespace chorale::simulation::device {

/// Gives the adapter the requests that may be sent: in order, reads up to their limit, fenced requests after
/// all reads.
void send_on(queue_pair& qp);
/// A message of a reliable connection reached no responder: it is retransmitted after the timeout, until the
/// retries are used up.
void lose(const message& what);
/// The last byte of a request leaves its adapter at `last`.
void all_left(queue_pair& qp, const request_name& name, instant last);
/// Delivers an answer to its requester.
void take_answer(answer& what);
/// Pushes the completion of a request, if it gets one. `number`: the count of requests posted, this one
/// included.
void complete(queue_pair& qp, const send_request& r, std::uint64_t number, ibv_wc_status status);

/// Ends a request; completions come in order. Requests after a failed one are flushed.
void end(queue_pair& qp, send_request& r, ibv_wc_status status);
/// The request of that name, if it still exists; with `first_try` only if it was not retransmitted since.
send_request* find_request(queue_pair& qp, const request_name& name, bool first_try) noexcept;
/// Checks the memory of a request, its source or its target: false if a local key does not permit the access.
bool check_pieces(const queue_pair& qp, const send_request& r, int access) noexcept;
/// The payload, as it is in memory now.
std::vector<std::byte> gather(const send_request& r);

/// Sends the datagram of a request.
void send_datagram(queue_pair& qp, const send_request& r, const outgoing& weight, const departure& leaves,
                   const traced& trace);

/// Sends a message, whose first burst is `first` and leaves as `leaves` says. Between bursts the adapter's
/// other queue pairs have their turns, while this one's next request waits until the last burst has left.
void send_in_bursts(std::unique_ptr<message> m, const outgoing& first, const departure& leaves);

}  // namespace chorale::simulation::device
