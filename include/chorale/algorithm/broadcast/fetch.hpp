// SPDX-License-Identifier: Apache-2.0
// Broadcast by reads: every rank fetches the message from the root's memory.
#pragma once

#include <cstddef>
#include <span>

#include <chorale/algorithm/broadcast/flat.hpp>
#include <chorale/algorithm/transfer.hpp>

namespace chorale::broadcast {

/// The root sends the message's address to every rank, and each rank reads the message: the devices or cores
/// of all receivers move the bytes in parallel, and no receiver waits for another. Short messages use `flat`.
/// Cost: n - 1 short messages each from and to the root, whose memory is read n - 1 times. For long messages
/// on few ranks, or if several ranks share a core. Source: the rendezvous of P4 section 3.3, except that the
/// receiver moves the bytes.
struct fetch {
  static constexpr auto implements = operation::broadcast;
  template <class Net>
  static constexpr bool runs_on = reading_transport<Net>;

  template <reading_transport Net>
  static task<> run(Net& net, call_id now, std::span<std::byte> data, int root) {
    if (!transfer::is_zero_copy_one_way(net, data.size())) {
      co_await flat::run(net, now, data, root);
      co_return;
    }
    if (net.size() == 2 && transfer::own_cores_copy(net)) {
      if (net.rank() == root)
        co_await transfer::send(net, 1 - root, now, data);
      else
        co_await transfer::receive(net, root, now, data);
      co_return;
    }
    if (net.rank() != root) {
      co_await transfer::fetch(net, root, now, data);
      co_return;
    }
    std::span<const std::byte> message = data;
    const auto offered = transfer::offer(net, message);
    const remote_region here = offered.region();
    for (int step = 1; step < net.size(); ++step)
      co_await net.send((root + step) % net.size(), now, transfer::bytes_of(here));
    // All ranks must have read the message before the call ends, since the user may change it then.
    for (int step = 1; step < net.size(); ++step) {
      const int from = (root + step) % net.size();
      const auto done = co_await net.receive(from, now);
      static_cast<void>(transfer::exact(net, from, now, done, 0));
    }
  }
};

}  // namespace chorale::broadcast
