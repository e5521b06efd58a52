// SPDX-License-Identifier: Apache-2.0
// Broadcast by multicast.
#pragma once

#include <cstddef>
#include <span>

#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/chunks.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::broadcast {

/// The root multicasts the message in pieces of one datagram; each rank copies them to its buffer. Cost: one
/// multicast per piece for any n, and from each receiver an acknowledgement for every 16 pieces; the root
/// waits for it only if the receiver is a window of 32 pieces behind. Source: P1 section 3.3 for the
/// multicast, P1 sections 4.3 and 5.4 for repairing losses.
///
/// A piece is copied out of the user's buffer before it is sent, so the buffer may be reused when the call is
/// over, even if a piece has to be retransmitted later.
struct multicast {
  static constexpr auto implements = operation::broadcast;
  static constexpr bool needs_multicast = true;
  template <class Net>
  static constexpr bool runs_on = multicast_transport<Net>;

  template <multicast_transport Net>
  static task<> run(Net& net, call_id now, std::span<std::byte> data, int root) {
    if (net.size() == 1) co_return;
    for (const auto piece : chunks{data, net.multicast_bytes()}) {
      if (net.rank() == root) {
        co_await net.multicast(now, piece);
      } else {
        const auto arrived = co_await net.multicast_receive(root, now);
        transfer::place(net, root, now, arrived, piece);
      }
    }
  }
};

}  // namespace chorale::broadcast
