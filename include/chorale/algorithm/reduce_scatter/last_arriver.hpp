// SPDX-License-Identifier: Apache-2.0
// Last-arriver reduce-scatter.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include <chorale/algorithm/evaluation.hpp>
#include <chorale/algorithm/host_slots.hpp>
#include <chorale/algorithm/reduce_scatter/direct.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::reduce_scatter {

/// Each rank writes its operands into its own slot, in memory shared by all ranks of the host; the last
/// arriver notifies all, and each rank combines its block from all slots, from rank 0 upwards, with the same
/// bits as `direct`. Even and uneven blocks. `direct` is used where ranks do not share memory, and for
/// elements so large that a slot cannot hold one per rank. Cost: for each part that fits into a slot, one
/// copy and one atomic addition per rank, n - 1 combinations of its own block, and a wait. Any n.
struct last_arriver : over_mapped_memory {
  static constexpr auto implements = operation::reduce_scatter;
  static constexpr auto evaluates = evaluation::serial;
  template <class Net>
  static constexpr bool runs_on = mapping_transport<Net>;

  template <mapping_transport Net>
  static task<> run(Net& net, call_id now, blocks<const std::byte> in, std::span<std::byte> out,
                    reduction op) {
    const auto ranks = static_cast<std::size_t>(net.size());
    // All ranks know all sizes, so they make the same choice.
    if (in.layout().largest() > net.block_bytes() / ranks)
      return through<long_slots>(net, now, std::move(in), out, std::move(op));
    return through<block_slots>(net, now, std::move(in), out, std::move(op));
  }

 private:
  template <class Size, mapping_transport Net>
  static task<> through(Net& net, call_id now, blocks<const std::byte> in, std::span<std::byte> out,
                        reduction op) {
    auto& host = net.template state<host_slots<Net, Size>>();
    if (!host.is_decided()) [[unlikely]]
      co_await host.decide(net, now);
    const auto ranks = static_cast<std::size_t>(net.size());
    const std::size_t largest = in.layout().largest();
    auto& slots = host.slots();
    // A slot holds the same number of bytes of each block, side by side.
    const std::size_t share = slots.slot_bytes() / ranks;
    if (!host.are_there() || op.element_bytes() > share) [[unlikely]] {
      co_await direct::run(net, now, in, out, op);
      co_return;
    }
    const std::size_t step = op.whole(chorale::part_bytes(largest, share));
    const std::size_t room = step * ranks;
    for (std::size_t at = 0; at < largest; at += step) {
      const auto bytes_of = [&](int rank) {
        const std::size_t size = in[rank].size();
        return std::min(step, size - std::min(at, size));
      };
      slots.begin(now);
      for (int r = 0; r < net.size(); ++r) {
        if (const std::size_t bytes = bytes_of(r); bytes != 0)
          chorale::copy_bytes(slots.mine(room) + static_cast<std::size_t>(r) * step, in[r].data() + at,
                              bytes);
      }
      if (co_await host.arrives_last(net, now)) slots.publish();
      const std::size_t bytes = bytes_of(net.rank());
      if (bytes == 0) continue;
      const auto result = out.subspan(at, bytes);
      for (int r = 0; r < net.size(); ++r) {
        const auto theirs = slots.of(r, room).subspan(static_cast<std::size_t>(net.rank()) * step, bytes);
        if (r == 0)
          chorale::copy_bytes(result.data(), theirs.data(), bytes);
        else
          op.combine_left(result, theirs);
      }
    }
  }
};

}  // namespace chorale::reduce_scatter
