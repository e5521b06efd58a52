// Broadcast by reads: everyone fetches the message from the root's memory.
#pragma once

#include <cstddef>
#include <span>

#include <chorale/algorithm/broadcast/flat.hpp>
#include <chorale/algorithm/transfer.hpp>

namespace chorale::broadcast {

/// The root tells everyone where the message is, and each reads it: the bytes move by the devices, or the
/// cores, of all receivers at once, and no receiver waits for another. Short messages go as in `flat`. Cost:
/// n - 1 short messages from and to the root, of whose memory the message is read n - 1 times: for long
/// messages on few ranks, or where several share a core. Source: the rendezvous of P4 section 3.3, with the
/// receiver as the one who moves the bytes.
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
    const auto offered = net.offer(data);
    const remote_region here = offered.region();
    for (int step = 1; step < net.size(); ++step)
      co_await net.send((root + step) % net.size(), now, transfer::bytes_of(here));
    // The message may change when the call is over: everyone has read it by then.
    for (int step = 1; step < net.size(); ++step) {
      const int from = (root + step) % net.size();
      const auto done = co_await net.receive(from, now);
      static_cast<void>(transfer::exact(net, from, now, done, 0));
    }
  }
};

}  // namespace chorale::broadcast
