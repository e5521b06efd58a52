// SPDX-License-Identifier: Apache-2.0
// Flat gather: every rank sends to the root.
#pragma once

#include <algorithm>

#include <chorale/algorithm/agreed.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/topology/arithmetic.hpp>

namespace chorale::gather {

/// The root receives from the other ranks in turn, beginning with the one after it. Even and uneven blocks.
/// Cost: n - 1 messages at the root; each byte travels once, so it is best for long messages.
struct flat {
  static constexpr auto implements = operation::gather;
  static constexpr bool uneven = true;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, std::span<const std::byte> mine, blocks<std::byte> all, int root) {
    const bool agree = now.has_private_sizes();
    if constexpr (one_sided_transport<Net>) {
      // With two ranks, each copies half if cores copy: `send` and `receive` do that.
      if (!agree && transfer::is_zero_copy_one_way(net, mine.size()) &&
          (net.size() > 2 || !transfer::own_cores_copy(net))) {
        if (net.rank() == root)
          co_await take_all(net, now, mine, all);
        else
          co_await transfer::send_by_put(net, root, now, mine);
        co_return;
      }
    }
    if (net.rank() != root) {
      if (agree)
        co_await agreed::send(net, root, now, mine);
      else if (transfer::is_one_message(net, mine.size()))
        co_await net.send(root, now, mine);
      else
        co_await transfer::send(net, root, now, mine);
      co_return;
    }
    // The root copies its own block while the first messages are on their way.
    place_own(mine, all[root]);
    for (int step = 1; step < net.size(); ++step) {
      const int from = topology::wrap(root + step, net.size());
      if (agree) {
        co_await agreed::receive(net, from, now, all[from]);
      } else if (transfer::is_one_message(net, all[from].size())) {
        const auto message = co_await net.receive(from, now);
        transfer::place(net, from, now, message, all[from]);
      } else {
        co_await transfer::receive(net, from, now, all[from]);
      }
    }
  }

 private:
  /// Sends every rank the address for its block, so that all ranks put their blocks in parallel while the
  /// root copies its own.
  template <one_sided_transport Net>
  static task<> take_all(Net& net, call_id now, std::span<const std::byte> mine, blocks<std::byte> all) {
    const auto exposed = transfer::expose(net, all);
    const auto rank_at = [&](int step) { return (net.rank() + step) % net.size(); };
    for (int step = 1; step < net.size(); ++step) {
      const remote_region here = transfer::part_of(exposed.region(), all[rank_at(step)]);
      co_await net.send(rank_at(step), now, transfer::bytes_of(here));
    }
    chorale::place_own(mine, all[net.rank()]);
    for (int step = 1; step < net.size(); ++step) {
      const auto done = co_await net.receive(rank_at(step), now);
      static_cast<void>(transfer::exact(net, rank_at(step), now, done, 0));
    }
    exposed.copy_back();
  }
};

}  // namespace chorale::gather
