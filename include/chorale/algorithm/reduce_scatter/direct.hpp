// Direct reduce-scatter.
#pragma once

#include <chorale/algorithm/reduce_exchange.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/chunks.hpp>
#include <chorale/core/lean_algorithm.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::reduce_scatter {

/// Every rank sends each block to its owner, which combines the operands from rank 0 upwards: the result is
/// ((x0 op x1) op x2) ..., to the bit what a serial loop computes, whatever the number of ranks, the size and
/// the transport. Even and uneven blocks. Cost: n - 1 messages a rank, each byte travels once.
///
/// A chunk is sent to everyone before the same chunk is received, so that at most two chunks of a pair are
/// under way and no rank waits for another's free blocks.
struct direct {
  static constexpr auto implements = operation::reduce_scatter;
  template <class T>
  static constexpr bool runs_on = mailbox_transport<T>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, blocks<const std::byte> in, std::span<std::byte> out,
                    reduction op) {
    const std::size_t step = op.whole(net.block_bytes());
    const auto mine = in[net.rank()];
    for (std::size_t at = 0; at < in.layout().largest(); at += step) {
      for (int distance = 1; distance < net.size(); ++distance) {
        const int to = (net.rank() + distance) % net.size();
        const auto theirs = in[to];
        if (at < theirs.size())
          co_await net.send(to, now, theirs.subspan(at, std::min(step, theirs.size() - at)));
      }
      if (at >= mine.size()) continue;
      const auto own = mine.subspan(at, std::min(step, mine.size() - at));
      const auto result = out.subspan(at, own.size());
      co_await fold_in_rank_order(net, now, own, result, op);
    }
  }
};

}  // namespace chorale::reduce_scatter
