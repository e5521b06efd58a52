// SPDX-License-Identifier: Apache-2.0
// Last-arriver broadcast.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include <chorale/algorithm/broadcast/fetch.hpp>
#include <chorale/algorithm/host_slots.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::broadcast {

/// The root writes the message into a slot shared by all ranks of the host; the last arriver notifies all,
/// and each rank copies the message from the slot. So the message is written only once, the kernel need not
/// look up and pin the root's pages, and no rank waits for a forwarding rank that has no core, as in a tree.
/// Where ranks do not share memory, `fetch` is used. Cost: for each part that fits into a slot
/// (`host_slots.hpp`), n copies and n atomic additions in all, and a wait. Any n.
///
/// A slot is not overwritten before all ranks have arrived at the next part, and so have read this one. No
/// rank leaves before all have arrived, which is later than a broadcast requires if some ranks are late.
struct last_arriver : over_mapped_memory {
  static constexpr auto implements = operation::broadcast;
  template <class Net>
  static constexpr bool runs_on = mapping_transport<Net> && reading_transport<Net>;

  template <mapping_transport Net>
  static task<> run(Net& net, call_id now, std::span<std::byte> data, int root) {
    if (data.size() > net.block_bytes()) return through<long_slots>(net, now, data, root);
    return through<block_slots>(net, now, data, root);
  }

 private:
  template <class Size, mapping_transport Net>
  static task<> through(Net& net, call_id now, std::span<std::byte> data, int root) {
    auto& host = net.template state<host_slots<Net, Size>>();
    if (!host.is_decided()) [[unlikely]]
      co_await host.decide(net, now);
    if (!host.are_there()) [[unlikely]] {
      co_await fetch::run(net, now, data, root);
      co_return;
    }
    auto& slots = host.slots();
    const std::size_t step = chorale::part_bytes(data.size(), slots.slot_bytes());
    for (std::size_t at = 0; at < data.size(); at += step) {
      const auto part = data.subspan(at, std::min(step, data.size() - at));
      slots.begin(now);
      if (net.rank() == root) chorale::copy_bytes(slots.mine(step), part.data(), part.size());
      if (co_await host.arrives_last(net, now)) slots.publish();
      if (net.rank() != root) chorale::copy_bytes(part.data(), slots.of(root, step).data(), part.size());
    }
  }
};

}  // namespace chorale::broadcast
