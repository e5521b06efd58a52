// SPDX-License-Identifier: Apache-2.0
// Reduce with the same bits as a serial loop.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include <chorale/algorithm/evaluation.hpp>
#include <chorale/algorithm/reduce_exchange.hpp>
#include <chorale/algorithm/scratch.hpp>
#include <chorale/core/chunks.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::reduce {

/// The root combines the operands of all ranks from rank 0 upwards, with exactly the bracketing ((x_0 op x_1)
/// op x_2) .... The bits depend only on the operands and their order, and are those of
/// `allreduce::reproducible`. Any operator. Cost: n - 1 messages at the root, one step.
struct reproducible {
  static constexpr auto implements = operation::reduce;
  static constexpr auto evaluates = evaluation::serial;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, std::span<const std::byte> in, std::span<std::byte> out,
                    reduction op, int root) {
    // In place, combining the operands of lower ranks would overwrite this rank's own, which is therefore
    // saved first.
    const bool puts_by = in.data() == out.data() && root != 0;
    const std::size_t step = op.whole(net.block_bytes());
    const auto kept = chorale::scratch_of(net, puts_by && net.rank() == root ? std::min(step, in.size()) : 0);
    std::size_t at = 0;
    for (const auto block : chunks{in, step}) {
      if (net.rank() != root) {
        co_await net.send(root, now, block);
        continue;
      }
      if (puts_by) chorale::move_bytes(kept.memory(), block);
      const auto own = puts_by ? kept.memory().first(block.size()) : block;
      const auto result = out.subspan(at, block.size());
      at += block.size();
      co_await chorale::fold_in_rank_order(net, now, own, result, op);
    }
  }
};

}  // namespace chorale::reduce
