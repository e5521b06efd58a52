// The responder: what becomes of a message of a connection at its target.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "packet.hpp"
#include "queue_pair.hpp"

namespace chorale::simulation::device {

/// The first byte of a message has come to the adapter it is for. What a reliable connection reports or waits
/// for, an unreliable one drops without a word (IBTA 9.8.3, 9.9.3.2).
void arrive(std::unique_ptr<message> what);

/// Packets that a message of so many bytes takes, each of which has a number.
std::uint32_t packets_of(std::uint64_t bytes, ibv_mtu mtu) noexcept;
/// Takes the oldest receive out of the queue pair's queue, which must have one. A shared queue that falls
/// below its limit says so.
receive take_receive(queue_pair& qp);
/// Writes `data` into a receive, which is long enough. False if a local key does not allow it.
bool fill(const queue_pair& qp, const receive& into, std::span<const std::byte> data);

}  // namespace chorale::simulation::device
