// SPDX-License-Identifier: Apache-2.0
// Transfers between every two ranks at once, without zero copy.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <chorale/algorithm/transfer.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::transfer {

/// Sends outgoing(r) to every other rank r and receives incoming(r) from it, without exchanging addresses;
/// none of these blocks is longer than `most`. Piece by piece, all sends before all receives, so that at most
/// two pieces per pair of ranks are under way and no rank waits for another's free blocks; or all at once as
/// messages of the transport.
template <mailbox_transport Net, class Outgoing, class Incoming>
task<> copy_among_all(Net& net, call_id now, std::size_t most, Outgoing outgoing, Incoming incoming) {
  const auto at_distance = [&](int d) { return (net.rank() + d + net.size()) % net.size(); };
  if constexpr (message_transport<Net>) {
    if (transfer::is_whole(net, most)) {
      std::vector<outbound_message> sends;
      std::vector<inbound_message> receives;
      for (int d = 1; d < net.size(); ++d) {
        sends.push_back({at_distance(d), outgoing(at_distance(d))});
        receives.push_back({at_distance(-d), incoming(at_distance(-d))});
      }
      co_await transfer::exchange_all(net, now, sends, receives);
      co_return;
    }
  }
  const std::size_t step = net.block_bytes();
  for (std::size_t at = 0; at < most; at += step) {
    for (int d = 1; d < net.size(); ++d) {
      const std::span<const std::byte> block = outgoing(at_distance(d));
      if (at < block.size())
        co_await net.send(at_distance(d), now, block.subspan(at, std::min(step, block.size() - at)));
    }
    for (int d = 1; d < net.size(); ++d) {
      const int from = at_distance(-d);
      const std::span<std::byte> block = incoming(from);
      if (at >= block.size()) continue;
      const auto message = co_await net.receive(from, now);
      transfer::place(net, from, now, message, block.subspan(at, std::min(step, block.size() - at)));
    }
  }
}

}  // namespace chorale::transfer
