// SPDX-License-Identifier: Apache-2.0
// Chain scan: from rank to rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include <chorale/algorithm/evaluation.hpp>
#include <chorale/algorithm/scratch.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/reduction.hpp>

namespace chorale::scan {

/// Each rank combines the data from the rank before it with its own operand and sends the result to the next
/// rank, block by block, so that a long message is pipelined through all ranks. Evaluates in rank order, any
/// n. Cost: n - 1 steps for the first block, then one block time per block; each byte is received, combined
/// and sent once, so it is best for long messages on few ranks. An element larger than a block is sent by
/// itself.
///
/// A block is combined in place in the mailbox and released before the next is awaited. `send` copies a
/// block; a longer element has been delivered to the next rank before this rank continues.
struct chain {
  static constexpr auto implements = operation::scan;
  static constexpr auto evaluates = evaluation::serial;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  /// `data`: this rank's operand, replaced by the result: the combination of ranks 0 to this rank if
  /// `inclusive`, else of the ranks below this one.
  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, std::span<std::byte> data, reduction op, bool inclusive) {
    const std::size_t step = op.whole(net.block_bytes());
    const bool in_blocks = step <= net.block_bytes();
    const int before = net.rank() - 1;
    const int after = net.rank() + 1 < net.size() ? net.rank() + 1 : -1;
    const std::size_t most = std::min(step, data.size());
    // An element larger than a block.
    const auto received = chorale::scratch_of(net, before >= 0 && !in_blocks ? most : 0);
    // Data to send on, if different from the result here.
    const auto sent = chorale::scratch_of(net, before >= 0 && !inclusive && after >= 0 ? most : 0);
    for (const auto piece : chunks{data, step}) {
      std::span<const std::byte> passed_on = piece;
      if (before >= 0 && in_blocks) {
        const auto message = co_await net.receive(before, now);
        const auto theirs = transfer::exact(net, before, now, message, piece.size());
        passed_on = combine(theirs, piece, sent.memory(), op, inclusive);
      } else if (before >= 0) {
        const auto left = received.memory().first(piece.size());
        co_await transfer::receive(net, before, now, left);
        passed_on = combine(left, piece, sent.memory(), op, inclusive);
      }
      if (after >= 0 && in_blocks)
        co_await net.send(after, now, passed_on);
      else if (after >= 0)
        co_await transfer::send(net, after, now, passed_on);
    }
  }

 private:
  /// Replaces `mine` by the result. `total`: memory for data that is sent on, empty if none is. @returns that
  /// data.
  static std::span<const std::byte> combine(std::span<const std::byte> left, std::span<std::byte> mine,
                                            std::span<std::byte> total, const reduction& op, bool inclusive) {
    if (inclusive) {
      op.combine_right(left, mine);
      return mine;
    }
    if (!total.empty()) {
      total = total.first(mine.size());
      move_bytes(total, mine);
      op.combine_right(left, total);
    }
    copy_bytes(mine.data(), left.data(), mine.size());
    return total;
  }
};

}  // namespace chorale::scan
