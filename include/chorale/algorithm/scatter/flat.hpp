// SPDX-License-Identifier: Apache-2.0
// Flat scatter: the root sends to every other rank.
#pragma once

#include <chorale/algorithm/agreed.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/topology/arithmetic.hpp>

namespace chorale::scatter {

/// The root sends to the other ranks in turn, beginning with the one after it. Even and uneven blocks. Cost:
/// n - 1 messages at the root; each byte travels once, so it is best for long messages.
struct flat {
  static constexpr auto implements = operation::scatter;
  static constexpr bool uneven = true;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, blocks<const std::byte> all, std::span<std::byte> mine, int root) {
    const bool agree = now.has_private_sizes();
    if (net.rank() != root) {
      if (agree) {
        co_await agreed::receive(net, root, now, mine);
      } else if (transfer::is_one_message(net, mine.size())) {
        const auto message = co_await net.receive(root, now);
        transfer::place(net, root, now, message, mine);
      } else {
        co_await transfer::receive(net, root, now, mine);
      }
      co_return;
    }
    // Stores of messages go to cache lines of other cores, so once the store buffer is full, the stores of a
    // later copy wait for them. A block of a few kilobytes is therefore copied first: the delay costs the
    // receivers less than the wait would cost the root.
    const bool own_first = mine.size() >= 1024 && mine.size() <= net.block_bytes();
    if (own_first) place_own(all[root], mine);
    for (int step = 1; step < net.size(); ++step) {
      const int to = topology::wrap(root + step, net.size());
      if (agree)
        co_await agreed::send(net, to, now, all[to]);
      else if (transfer::is_one_message(net, all[to].size()))
        co_await net.send(to, now, all[to]);
      else
        co_await transfer::send(net, to, now, all[to]);
    }
    if (!own_first) place_own(all[root], mine);
  }
};

}  // namespace chorale::scatter
