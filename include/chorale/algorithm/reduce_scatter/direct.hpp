// SPDX-License-Identifier: Apache-2.0
// Direct reduce-scatter.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <chorale/algorithm/evaluation.hpp>
#include <chorale/algorithm/read_operands.hpp>
#include <chorale/algorithm/reduce_exchange.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/chunks.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::reduce_scatter {

/// Every rank sends each block to its owner, which combines the operands from rank 0 upwards, ((x0 op x1) op
/// x2) ..., with the same bits as a serial loop for any number of ranks, size and transport. Even and uneven
/// blocks. Cost: n - 1 messages per rank; each byte travels once.
///
/// A rank sends a chunk to all others before it receives the same chunk, so that at most two chunks per pair
/// of ranks are under way and no rank waits for another's free blocks. Where operands are read, each rank
/// reads the operands of its own block piece by piece, and the call ends when all ranks have finished reading
/// from this one.
struct direct {
  static constexpr auto implements = operation::reduce_scatter;
  static constexpr auto evaluates = evaluation::serial;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, blocks<const std::byte> in, std::span<std::byte> out,
                    reduction op) {
    if constexpr (reads_operands<Net>) {
      // All ranks know all sizes, so they make the same choice.
      if (net.size() > 1 && chorale::is_read(net, in.layout().largest())) {
        co_await by_reads(net, now, in, out, op);
        co_return;
      }
    }
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
      co_await chorale::fold_in_rank_order(net, now, own, result, op);
    }
  }

 private:
  /// `op` must outlive the coroutine.
  template <reads_operands Net>
  static task<> by_reads(Net& net, call_id now, const blocks<const std::byte>& in, std::span<std::byte> out,
                         const reduction& op) {
    std::vector<offered_operand<Net>> given;
    given.reserve(static_cast<std::size_t>(net.size()));
    for (int distance = 1; distance < net.size(); ++distance) {
      const int to = (net.rank() + distance) % net.size();
      if (in[to].empty()) continue;
      given.emplace_back(net, now, in[to], to);
      co_await given.back().announce();
    }
    const auto mine = in[net.rank()];
    const std::size_t most = operand_reader<Net>::piece_bytes(op);
    std::vector<operand_reader<Net>> theirs;
    theirs.reserve(static_cast<std::size_t>(net.size()));
    for (int from = 0; from < net.size() && !mine.empty(); ++from) {
      if (from == net.rank()) continue;
      theirs.emplace_back(net, now, from, mine.size(), most);
      co_await theirs.back().find();
    }
    out = out.first(mine.size());
    const auto exposed = transfer::expose(net, out);
    for (std::size_t at = 0; at < mine.size(); at += most) {
      const auto own = mine.subspan(at, std::min(most, mine.size() - at));
      const auto result = out.subspan(at, own.size());
      // The first operand of another rank (rank 0, or rank 1 if this is rank 0) is read directly into the
      // result.
      co_await theirs.front().read_to(result, at, exposed);
      if (net.rank() == 0) op.combine_right(own, result);
      for (int from = 1; from < net.size(); ++from) {
        if (from == net.rank()) {
          op.combine_left(result, own);
        } else if (from != 1 || net.rank() != 0) {
          auto& next = theirs[static_cast<std::size_t>(from < net.rank() ? from : from - 1)];
          co_await next.read(at, own.size());
          op.combine_left(result, next.piece());
        }
      }
    }
    exposed.copy_back();
    for (auto& one : theirs) co_await one.release();
    for (auto& one : given) co_await one.released();
  }
};

}  // namespace chorale::reduce_scatter
