// Chain scan: from rank to rank.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <chorale/algorithm/evaluation.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/reduction.hpp>

namespace chorale::scan {

/// Each rank combines what comes from the rank before it with its own operand and passes the result on, block
/// by block, so that long messages flow through all ranks at once. Evaluates in rank order, any n. Cost: n -
/// 1 steps of the first block, one block time for each further one; each byte is received, combined and sent
/// once, so it is best on few ranks and for long messages. An element that no block takes goes alone.
///
/// A block is combined where it lies in the mailbox and given back before the next is awaited; what is sent
/// is copied by `send` or, if it is longer than a block, given to the next rank before this one goes on.
struct chain {
  static constexpr auto implements = operation::scan;
  static constexpr auto evaluates = evaluation::serial;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  /// `data`: this rank's operand, then the result: of ranks 0 to rank if `inclusive`, else of those below.
  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, std::span<std::byte> data, reduction op, bool inclusive) {
    const std::size_t step = op.whole(net.block_bytes());
    const bool in_blocks = step <= net.block_bytes();
    const int before = net.rank() - 1;
    const int after = net.rank() + 1 < net.size() ? net.rank() + 1 : -1;
    std::vector<std::byte> left;   // an element that no block takes
    std::vector<std::byte> total;  // what goes on, if the result here is another
    for (const auto piece : chunks{data, step}) {
      std::span<const std::byte> passed_on = piece;
      if (before >= 0 && in_blocks) {
        const auto message = co_await net.receive(before, now);
        const auto theirs = transfer::exact(net, before, now, message, piece.size());
        passed_on = combine(theirs, piece, total, op, inclusive, after >= 0);
      } else if (before >= 0) {
        left.resize(piece.size());
        co_await transfer::receive(net, before, now, left);
        passed_on = combine(left, piece, total, op, inclusive, after >= 0);
      }
      if (after >= 0 && in_blocks)
        co_await net.send(after, now, passed_on);
      else if (after >= 0)
        co_await transfer::send(net, after, now, passed_on);
    }
  }

 private:
  /// Makes the result of `mine`. @returns what the next rank gets.
  static std::span<const std::byte> combine(std::span<const std::byte> left, std::span<std::byte> mine,
                                            std::vector<std::byte>& total, const reduction& op,
                                            bool inclusive, bool goes_on) {
    if (inclusive) {
      op.combine_right(left, mine);
      return mine;
    }
    if (goes_on) {
      assign_bytes(total, mine);
      op.combine_right(left, total);
    }
    copy_bytes(mine.data(), left.data(), mine.size());
    return total;
  }
};

}  // namespace chorale::scan
