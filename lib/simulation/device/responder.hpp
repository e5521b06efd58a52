// SPDX-License-Identifier: Apache-2.0
// The responder: messages of a connection at their target.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "packet.hpp"
#include "queue_pair.hpp"

namespace chorale::simulation::device {

/// The first byte of a message has reached its target's adapter. Errors and missing receives, on which a
/// reliable connection fails or waits, make an unreliable one drop the message silently (IBTA 9.8.3,
/// 9.9.3.2).
void arrive(std::unique_ptr<message> what);

/// The number of packets of a message of `bytes`, each of which has a sequence number.
std::uint32_t packets_of(std::uint64_t bytes, ibv_mtu mtu) noexcept;
/// Takes the oldest receive out of the queue pair's queue, which must not be empty. Raises the limit event of
/// a shared queue that falls below its limit.
receive take_receive(queue_pair& qp);
/// Writes `data` into a receive, which is long enough. False if a local key does not permit it.
bool fill(const queue_pair& qp, const receive& into, std::span<const std::byte> data);

/// Places a write as a fabric without ordering may: some parts now, others after later writes, or after the
/// requester's completion. Precondition: `what` may write there.
void write_in_parts(queue_pair& qp, const message& what);
/// Places all late parts: they precede any request that completes at the target, or that reads.
void place_late(queue_pair& qp);

}  // namespace chorale::simulation::device
