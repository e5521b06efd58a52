// Steps of reductions: two ranks exchange operands, one rank combines those of all.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/chunks.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale {

/// Sends `out` to rank `to` and combines what rank `from` sends into `mine`, block by block, so that neither
/// side waits for the other's free blocks. `theirs_is_left`: what comes stands to the left of `mine`. `op` is
/// that of the coroutine that awaits this one.
template <mailbox_transport Net>
task<> exchange_and_combine(Net& net, epoch now, int to, std::span<const std::byte> out, int from,
                            std::span<std::byte> mine, bool theirs_is_left, const reduction& op) {
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

/// result = ((x_0 op x_1) op x_2) ..., where x_r is one message of rank r, but `mine` for this rank: the left
/// fold, from rank 0 upwards. result.size() bytes each; `mine` and `result` do not overlap. `op` is that of
/// the coroutine that awaits this one.
template <mailbox_transport Net>
task<> fold_in_rank_order(Net& net, epoch now, std::span<const std::byte> mine, std::span<std::byte> result,
                          const reduction& op) {
  const auto take = [&](int from, std::span<const std::byte> operand) {
    if (from != 0)
      op.combine_left(result, operand);
    else if (!result.empty())
      std::memcpy(result.data(), operand.data(), result.size());
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
