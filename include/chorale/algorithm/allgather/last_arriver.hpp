// SPDX-License-Identifier: Apache-2.0
// Last-arriver allgather.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include <chorale/algorithm/allgather/direct.hpp>
#include <chorale/algorithm/host_slots.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/result_copy.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::allgather {

/// Each rank writes its block into its own slot, in memory shared by all ranks of the host; the last arriver
/// notifies all, and each rank copies the other blocks from the slots. So a block is written once, not once
/// per reader. Even and uneven blocks. Where ranks do not share memory, `direct` is used. Cost: for each part
/// that fits into a slot (`host_slots.hpp`), n copies and one atomic addition per rank, and a wait. Any n.
struct last_arriver : over_mapped_memory {
  static constexpr auto implements = operation::allgather;
  static constexpr bool uneven = true;
  template <class Net>
  static constexpr bool runs_on = mapping_transport<Net>;

  template <mapping_transport Net>
  static task<> run(Net& net, call_id now, blocks<std::byte> all) {
    // All ranks know all sizes, so they make the same choice.
    if (all.layout().largest() > net.block_bytes()) return through<long_slots>(net, now, std::move(all));
    return through<block_slots>(net, now, std::move(all));
  }

 private:
  template <class Size, mapping_transport Net>
  static task<> through(Net& net, call_id now, blocks<std::byte> all) {
    auto& host = net.template state<host_slots<Net, Size>>();
    if (!host.is_decided()) [[unlikely]]
      co_await host.decide(net, now);
    if (!host.are_there()) [[unlikely]] {
      co_await direct::run(net, now, all);
      co_return;
    }
    auto& slots = host.slots();
    const std::size_t largest = all.layout().largest();
    const std::size_t step = chorale::part_bytes(largest, slots.slot_bytes());
    const result_copy place{all.layout().total(), net.size()};
    for (std::size_t at = 0; at < largest; at += step) {
      const auto part_of = [&](int rank) {
        const auto block = all[rank];
        return block.subspan(std::min(at, block.size()),
                             std::min(step, block.size() - std::min(at, block.size())));
      };
      slots.begin(now);
      const auto mine = part_of(net.rank());
      if (!mine.empty()) chorale::copy_bytes(slots.mine(step), mine.data(), mine.size());
      if (co_await host.arrives_last(net, now)) slots.publish();
      for (int d = 1; d < net.size(); ++d) {
        const int from = (net.rank() + d) % net.size();
        const auto theirs = part_of(from);
        if (!theirs.empty()) place(theirs.data(), slots.of(from, step).data(), theirs.size());
      }
    }
  }
};

}  // namespace chorale::allgather
