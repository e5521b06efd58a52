// Reduce up two trees at once.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/chunks.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/topology/two_trees.hpp>

namespace chorale::reduce {

/// The operand is divided into blocks, which go up two binary trees by turns; a rank combines what comes from
/// the left, its own block and what comes from the right, and sends the result on. No rank has children in
/// both trees, so that every rank sends each byte about once and receives it about once, and combines each
/// element about once. Cost: m + 4 log2 n steps of a block for m blocks, any n. In rank order, also for
/// operators that do not commute: rank 0 heads both trees, and forwards the result to another root. Where the
/// brackets are depends on the block that an element is in, and on nothing that happens. For long operands;
/// they travel in blocks of the mailbox.  Source: `topology::two_trees`.
///
/// Every rank handles the blocks in ascending order, so that one waits only for a rank that is further from
/// the head or has an earlier block in hand. What is sent has been copied when the send is over.
struct two_trees {
  static constexpr auto implements = operation::reduce;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  /// `in`: this rank's operand; `out`: at the root the result (may be `in`), elsewhere unused and may be
  /// empty.
  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, std::span<const std::byte> in, std::span<std::byte> out,
                    reduction op, int root) {
    const topology::two_trees pattern{net.rank(), net.size(), 0};
    const std::array trees{pattern[0], pattern[1]};
    const bool forwards = net.rank() == 0 && root != 0;
    const bool takes = net.rank() == root && root != 0;
    const std::size_t step = op.whole(net.block_bytes());
    // The root takes blocks of the result while later ones are still on their way up: fewer wait for it than
    // a mailbox has blocks.
    const std::size_t ahead = net.blocks() / 2 * step;
    std::size_t taken = 0;
    std::size_t at = 0;
    std::size_t turn = 0;
    std::vector<std::byte> combined;
    for (const auto own : chunks{in, step}) {
      const auto& tree = trees[turn++ % 2];
      std::span<const std::byte> result = own;
      if (!tree.children().empty()) {
        assign_bytes(combined, own);
        co_await combine_children(net, now, tree, combined, op);
        result = combined;
      }
      if (!tree.is_root()) co_await net.send(tree.parent(), now, result);
      if (forwards) co_await net.send(root, now, result);
      if (net.rank() == 0 && !forwards) move_bytes(out.subspan(at), result);
      at += own.size();
      while (takes && (at - taken > ahead || (at == in.size() && taken < at))) {
        const auto piece = out.subspan(taken, std::min(step, in.size() - taken));
        const auto arrived = co_await net.receive(0, now);
        transfer::place(net, 0, now, arrived, piece);
        taken += piece.size();
      }
    }
  }

  /// mine = (what the left child has combined) op mine op (what the right one has), for a block of this rank.
  /// `op` is that of the coroutine that awaits this one.
  template <mailbox_transport Net>
  static task<> combine_children(Net& net, call_id now, topology::two_trees::tree tree,
                                 std::span<std::byte> mine, const reduction& op) {
    if (tree.left() >= 0) {
      const auto operand = co_await net.receive(tree.left(), now);
      op.combine_right(transfer::exact(net, tree.left(), now, operand, mine.size()), mine);
    }
    if (tree.right() >= 0) {
      const auto operand = co_await net.receive(tree.right(), now);
      op.combine_left(mine, transfer::exact(net, tree.right(), now, operand, mine.size()));
    }
  }
};

}  // namespace chorale::reduce
