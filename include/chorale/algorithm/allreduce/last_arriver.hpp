// SPDX-License-Identifier: Apache-2.0
// Last-arriver allreduce.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include <chorale/algorithm/allreduce/reproducible.hpp>
#include <chorale/algorithm/evaluation.hpp>
#include <chorale/algorithm/even_shares.hpp>
#include <chorale/algorithm/host_slots.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/cache_lines.hpp>
#include <chorale/core/chunks.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::allreduce {

/// Each rank writes its operand into its own slot, in memory shared by all ranks of the host; the last
/// arriver combines all operands in rank order, ((x0 op x1) op x2) ..., and publishes the result. No rank
/// waits for a leader that has no core, and each operand is combined only once, so this is the fastest for
/// short messages where ranks outnumber cores. If messages are longer than a block of the mailbox, each rank
/// combines a share and leaves it in its slot for the others. Where ranks do not share memory, `reproducible`
/// is used, with the same bits. Cost: two copies and one atomic addition per rank, n - 1 combinations in all,
/// and a wait; for long messages, two additions and two waits for each part that fits into a slot
/// (`host_slots.hpp`). Any n.
struct last_arriver : over_mapped_memory {
  static constexpr auto implements = operation::allreduce;
  static constexpr auto evaluates = evaluation::serial;
  template <class Net>
  static constexpr bool runs_on = mapping_transport<Net>;

  /// `in`: this rank's operand; `out`: the result, of the same length, either `in` itself or not overlapping
  /// it.
  template <mapping_transport Net>
  static task<> run(Net& net, call_id now, std::span<const std::byte> in, std::span<std::byte> out,
                    reduction op) {
    if (in.size() > net.block_bytes()) return combine_shares(net, now, in, out, std::move(op));
    return combine_all(net, now, in, out, std::move(op));
  }

 private:
  template <mapping_transport Net>
  static task<> combine_all(Net& net, call_id now, std::span<const std::byte> in, std::span<std::byte> out,
                            reduction op) {
    auto& host = net.template state<host_slots<Net>>();
    if (!host.is_decided()) [[unlikely]]
      co_await host.decide(net, now);
    if (!host.are_there()) [[unlikely]] {
      co_await reproducible::run(net, now, in, out, op);
      co_return;
    }
    auto& slots = host.slots();
    for (const auto block : chunks{out, op.whole(net.block_bytes())}) {
      slots.begin(now);
      chorale::copy_bytes(slots.mine(block.size()), in.data() + (block.data() - out.data()), block.size());
      if (co_await host.arrives_last(net, now)) {
        const auto result = slots.result(block.size());
        chorale::copy_bytes(result.data(), slots.of(0, block.size()).data(), block.size());
        for (int r = 1; r < net.size(); ++r) op.combine_left(result, slots.of(r, block.size()));
        slots.publish();
      }
      chorale::copy_bytes(block.data(), slots.result(block.size()).data(), block.size());
    }
  }

  /// Each rank combines a share of each part, all ranks at the same time.
  template <mapping_transport Net>
  static task<> combine_shares(Net& net, call_id now, std::span<const std::byte> in, std::span<std::byte> out,
                               reduction op) {
    auto& host = net.template state<host_slots<Net, long_slots>>();
    if (!host.is_decided()) [[unlikely]]
      co_await host.decide(net, now);
    auto& slots = host.slots();
    if (!host.are_there()) [[unlikely]] {
      co_await reproducible::run(net, now, in, out, op);
      co_return;
    }
    for (const auto part : chunks{out, op.whole(chorale::part_bytes(out.size(), slots.slot_bytes()))}) {
      slots.begin(now);
      chorale::copy_bytes(slots.mine(part.size()), in.data() + (part.data() - out.data()), part.size());
      if (co_await host.arrives_last(net, now)) slots.publish();
      const block_layout shares = chorale::even_shares(net.size(), part.size(), op.whole(cache_line_spacing));
      const auto share_of = [&](int rank, auto whole) {
        return whole.subspan(shares[rank].offset, shares[rank].bytes);
      };
      const auto mine = share_of(net.rank(), part);
      for (int r = 0; r < net.size() && !mine.empty(); ++r) {
        const auto theirs = share_of(net.rank(), slots.of(r, part.size()));
        if (r == 0)
          chorale::copy_bytes(mine.data(), theirs.data(), mine.size());
        else
          op.combine_left(mine, theirs);
      }
      // The second use distributes the shares of the result, in the other set of slots.
      const std::size_t room = shares.largest();
      slots.begin(now);
      if (!mine.empty()) chorale::copy_bytes(slots.mine(room), mine.data(), mine.size());
      if (co_await host.arrives_last(net, now)) slots.publish();
      for (int d = 1; d < net.size(); ++d) {
        const int from = (net.rank() + d) % net.size();
        const auto theirs = share_of(from, part);
        if (!theirs.empty()) chorale::copy_bytes(theirs.data(), slots.of(from, room).data(), theirs.size());
      }
    }
  }
};

}  // namespace chorale::allreduce
