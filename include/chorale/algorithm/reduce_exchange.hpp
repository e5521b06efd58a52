// SPDX-License-Identifier: Apache-2.0
// Building blocks of reductions: ranks exchange and combine operands; one rank folds the operands of all.
#pragma once

#include <cstddef>
#include <span>

#include <chorale/algorithm/read_operands.hpp>
#include <chorale/algorithm/scratch.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/chunks.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale {

/// True if an operand of `bytes` is sent as one message, by a transport with messages of any length.
template <mailbox_transport Net>
[[nodiscard]] bool is_whole_operand(const Net& net, std::size_t bytes, const reduction& op) noexcept {
  return message_transport<Net> && bytes > op.whole(net.block_bytes());
}

/// Sends `out` to rank `to`, receives an operand from rank `from` and combines it into `mine`: block by
/// block, so that neither side waits for the other's free blocks; or as one message of the transport, via a
/// temporary buffer; or, if long, by reads. `out` must not overlap `mine` unless the transport has messages.
/// `theirs_is_left`: the received operand is the left one. `op` must outlive the coroutine.
template <mailbox_transport Net>
task<> exchange_and_combine(Net& net, call_id now, int to, std::span<const std::byte> out, int from,
                            std::span<std::byte> mine, bool theirs_is_left, const reduction& op) {
  if constexpr (message_transport<Net>) {
    if (chorale::is_whole_operand(net, out.size(), op) || chorale::is_whole_operand(net, mine.size(), op)) {
      const auto received = chorale::scratch_of(net, mine.size());
      const auto theirs = received.memory();
      co_await transfer::copy(net, now, to, out, from, theirs);
      if (theirs_is_left)
        op.combine_right(theirs, mine);
      else
        op.combine_left(mine, theirs);
      co_return;
    }
  }
  if constexpr (reads_operands<Net>) {
    // One operand may be above the threshold and the other below it.
    const bool is_offered = chorale::is_read(net, out.size());
    const bool reads = chorale::is_read(net, mine.size());
    if (is_offered || reads) {
      co_await chorale::read_and_combine(net, now, to, is_offered ? out : out.first(0), from,
                                         reads ? mine : mine.first(0), theirs_is_left, op);
      if (is_offered) out = out.first(0);
      if (reads) mine = mine.first(0);
    }
  }
  const auto outgoing = chunks{out, op.whole(net.block_bytes())};
  const auto incoming = chunks{mine, op.whole(net.block_bytes())};
  auto next_out = outgoing.begin();
  auto next_in = incoming.begin();
  while (next_out != outgoing.end() || next_in != incoming.end()) {
    if (next_out != outgoing.end()) {
      co_await net.send(to, now, *next_out);
      ++next_out;
    }
    if (next_in != incoming.end()) {
      const auto block = *next_in;
      const auto message = co_await net.receive(from, now);
      const auto theirs = transfer::exact(net, from, now, message, block.size());
      if (theirs_is_left)
        op.combine_right(theirs, block);
      else
        op.combine_left(block, theirs);
      ++next_in;
    }
  }
}

/// result = ((x_0 op x_1) op x_2) ..., the left fold from rank 0 upwards, where x_r is one message from rank
/// r, or `mine` for this rank; each of result.size() bytes. `mine` and `result` must not overlap, except that
/// they may be the same buffer on rank 0. `op` must outlive the coroutine.
template <mailbox_transport Net>
task<> fold_in_rank_order(Net& net, call_id now, std::span<const std::byte> mine, std::span<std::byte> result,
                          const reduction& op) {
  const auto take = [&](int from, std::span<const std::byte> operand) {
    if (from != 0)
      op.combine_left(result, operand);
    else if (!result.empty() && operand.data() != result.data())
      copy_bytes(result.data(), operand.data(), result.size());
  };
  for (int from = 0; from < net.size(); ++from) {
    if (from == net.rank()) {
      take(from, mine);
    } else {
      const auto message = co_await net.receive(from, now);
      take(from, transfer::exact(net, from, now, message, result.size()));
    }
  }
}

}  // namespace chorale
