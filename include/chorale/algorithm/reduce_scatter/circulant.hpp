// SPDX-License-Identifier: Apache-2.0
// Reduce-scatter over a circulant graph.
#pragma once

#include <cstddef>
#include <span>

#include <chorale/algorithm/evaluation.hpp>
#include <chorale/algorithm/reduce_exchange.hpp>
#include <chorale/algorithm/reduce_scatter/direct.hpp>
#include <chorale/algorithm/scratch.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/topology/circulant.hpp>

namespace chorale::reduce_scatter {

/// In each round a rank sends away the upper half of the blocks that it still holds, to the rank whose block
/// is the first of them, and combines received blocks into the lower half. Even and uneven blocks. Cost:
/// ceil(log2 n) rounds for any n, in all n - 1 blocks; memory for one operand, half of which is copied.
/// Source: `topology::circulant`.
///
/// Evaluates a block in a tree that is not in rank order, but the same for all elements of the block;
/// operators that do not commute (`chorale::commutes`) use `direct`.
struct circulant {
  static constexpr auto implements = operation::reduce_scatter;
  static constexpr auto evaluates = evaluation::unordered;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, blocks<const std::byte> in, std::span<std::byte> out,
                    reduction op) {
    if (!op.commutes()) return direct::run(net, now, in, out, op);
    return give_away(net, now, in, out, op);
  }

  /// Leaves the result of this rank's block in `held`. The first round sends from `given`, all others from
  /// `held`, which initially contains the blocks of the ceil(n/2) ranks from this one on and may be the same
  /// memory as `given`. Both layouts are packed. `op` must outlive the coroutine.
  ///
  /// A run of blocks that wraps around after the last rank's is transferred in two parts; sender and receiver
  /// split it at the same rank.
  template <mailbox_transport Net>
  static task<> combine(Net& net, call_id now, blocks<const std::byte> given, blocks<std::byte> held,
                        const reduction& op) {
    const int rounds = topology::circulant{net.rank(), net.size()}.size();
    for (const auto round : topology::circulant{net.rank(), net.size()}.reversed()) {
      const auto source =
          round.index == rounds - 1 ? given : blocks<const std::byte>{held.buffer(), held.layout()};
      const auto out = source.around(round.above, round.blocks);
      const auto mine = held.around(net.rank(), round.blocks);
      for (const std::size_t part : {0U, 1U})
        co_await chorale::exchange_and_combine(net, now, round.above, out[part], round.below, mine[part],
                                               true, op);
    }
  }

 private:
  template <mailbox_transport Net>
  static task<> give_away(Net& net, call_id now, blocks<const std::byte> in, std::span<std::byte> out,
                          reduction op) {
    const std::size_t bytes = in.layout().total();
    const auto work = chorale::scratch_of(net, bytes);
    const blocks<std::byte> held{work.memory(), in.layout()};
    const int kept = (net.size() + 1) / 2;
    const auto from = in.around(net.rank(), kept);
    const auto to = held.around(net.rank(), kept);
    for (const std::size_t part : {0U, 1U})
      if (!from[part].empty()) chorale::copy_bytes(to[part].data(), from[part].data(), from[part].size());
    co_await combine(net, now, in, held, op);
    if (!out.empty()) chorale::copy_bytes(out.data(), held[net.rank()].data(), out.size());
  }
};

}  // namespace chorale::reduce_scatter
