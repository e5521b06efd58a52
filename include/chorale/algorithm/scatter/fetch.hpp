// SPDX-License-Identifier: Apache-2.0
// Scatter by reads: every rank fetches its block from the root's memory.
#pragma once

#include <cstddef>

#include <chorale/algorithm/agreed.hpp>
#include <chorale/algorithm/scatter/flat.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/copy_bytes.hpp>

namespace chorale::scatter {

/// The root sends each rank the address of its block, beginning with the rank after the root, and each rank
/// reads its block: the devices or cores of all receivers move the bytes in parallel, whereas `flat` uses
/// only the root's. Even and uneven blocks. Blocks below the transport's `zero_copy_bytes()` use `flat`, and
/// so do all blocks if there are two ranks that copy half each. The root sends addresses without waiting, as
/// it would send blocks, so reads pay off from a smaller size than puts, which need the receiver's address
/// first. Cost: n - 1 messages each from and to the root; each byte travels once. Best for long messages
/// where a device or a core reads as fast as it writes. Source: the rendezvous of P4 section 3.3, except that
/// the receiver moves the bytes.
struct fetch {
  static constexpr auto implements = operation::scatter;
  static constexpr bool uneven = true;
  template <class Net>
  static constexpr bool runs_on = reading_transport<Net>;

  template <reading_transport Net>
  static task<> run(Net& net, call_id now, blocks<const std::byte> all, std::span<std::byte> mine, int root) {
    if (net.size() == 2 && transfer::own_cores_copy(net)) {
      co_await flat::run(net, now, all, mine, root);
      co_return;
    }
    if (now.has_private_sizes()) {
      if (net.rank() == root)
        co_await offer_uneven(net, now, all, mine);
      else
        co_await fetch_uneven(net, root, now, mine);
      co_return;
    }
    if (net.rank() != root) {
      if (transfer::is_zero_copy(net, mine.size()))
        co_await transfer::fetch(net, root, now, mine);
      else
        co_await transfer::receive(net, root, now, mine);
      co_return;
    }
    if (!transfer::is_zero_copy(net, all.layout().largest())) {
      co_await flat::run(net, now, all, mine, root);
      co_return;
    }
    const auto own = all[root];
    const auto offered = transfer::offer(net, all);
    const remote_region here = offered.region();
    const auto rank_at = [&](int step) { return (root + step) % net.size(); };
    for (int step = 1; step < net.size(); ++step) {
      const int to = rank_at(step);
      if (!transfer::is_zero_copy(net, all[to].size())) {
        co_await transfer::send(net, to, now, all[to]);
        continue;
      }
      const remote_region block = transfer::part_of(here, all[to]);
      co_await net.send(to, now, transfer::bytes_of(block));
    }
    place_own(own, mine);
    // All ranks must have read their blocks before the call ends, since the user may change them then.
    for (int step = 1; step < net.size(); ++step) {
      if (!transfer::is_zero_copy(net, all[rank_at(step)].size())) continue;
      const auto done = co_await net.receive(rank_at(step), now);
      static_cast<void>(transfer::exact(net, rank_at(step), now, done, 0));
    }
  }

 private:
  /// If only the root and the receiver of a block know its size, an envelope carries its size and address.
  template <reading_transport Net>
  static task<> offer_uneven(Net& net, call_id now, blocks<const std::byte> all, std::span<std::byte> mine) {
    const auto straight = [&](int to) { return transfer::is_zero_copy(net, all[to].size()); };
    const bool any = transfer::is_zero_copy(net, all.layout().largest());
    const auto own = all[net.rank()];
    auto memory = all.buffer().first(any ? all.layout().end() : 0);
    const auto offered = transfer::offer(net, memory);
    if (any) all = {memory, all.layout()};
    const auto rank_at = [&](int step) { return (net.rank() + step) % net.size(); };
    agreed::sealed seal;
    for (int step = 1; step < net.size(); ++step) {
      const int to = rank_at(step);
      if (!straight(to)) {
        co_await agreed::send(net, to, now, all[to]);
        continue;
      }
      const remote_region block = transfer::part_of(offered.region(), all[to]);
      co_await net.send(to, now, seal({.sends = all[to].size()}, block, {}));
    }
    chorale::place_own(own, mine);
    for (int step = 1; step < net.size(); ++step) {
      if (!straight(rank_at(step))) continue;
      const auto done = co_await net.receive(rank_at(step), now);
      static_cast<void>(transfer::exact(net, rank_at(step), now, done, 0));
    }
  }
  template <reading_transport Net>
  static task<> fetch_uneven(Net& net, int root, call_id now, std::span<std::byte> mine) {
    if (!transfer::is_zero_copy(net, mine.size())) {
      co_await agreed::receive(net, root, now, mine);
      co_return;
    }
    const auto local = transfer::expose(net, mine);
    remote_region there;
    {
      const auto message = co_await net.receive(root, now);
      there = agreed::open(net, root, now, message, {.takes = mine.size()}, 0).place;
    }
    co_await net.get(agreed::exactly(net, root, now, there, mine.size()), 0, local, mine, now);
    co_await net.send(root, now, {});
    local.copy_back();
  }
};

}  // namespace chorale::scatter
