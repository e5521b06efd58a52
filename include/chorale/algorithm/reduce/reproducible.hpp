// Reduce with the same bits as a serial loop.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <chorale/algorithm/evaluation.hpp>
#include <chorale/algorithm/reduce_exchange.hpp>
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
    std::vector<std::byte> kept;
    std::size_t at = 0;
    for (const auto block : chunks{in, op.whole(net.block_bytes())}) {
      if (net.rank() != root) {
        co_await net.send(root, now, block);
        continue;
      }
      if (puts_by) chorale::assign_bytes(kept, block);
      const auto result = out.subspan(at, block.size());
      at += block.size();
      co_await chorale::fold_in_rank_order(net, now, puts_by ? kept : block, result, op);
    }
  }
};

}  // namespace chorale::reduce
