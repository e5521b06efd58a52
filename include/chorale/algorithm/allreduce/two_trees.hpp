// Allreduce up and down two trees.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include <chorale/algorithm/broadcast/two_trees.hpp>
#include <chorale/algorithm/reduce/two_trees.hpp>
#include <chorale/core/chunks.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/topology/two_trees.hpp>

namespace chorale::allreduce {

/// A reduce to rank 0 up two binary trees, in place, then a broadcast from there down the same trees.
/// Evaluates in rank order, so also for operators that do not commute, and to the same bits on all ranks.
/// Cost: those of `reduce::two_trees` and `broadcast::two_trees`: every rank sends and receives the message
/// about twice, as in `ring`, in steps that grow with log n instead of n. Any n. For long messages in large
/// groups.  Source: `topology::two_trees`.
///
/// All blocks go up before the first comes down: a rank that still sends up does not read what comes down,
/// and the two together could fill each other's mailboxes.
struct two_trees {
  static constexpr auto implements = operation::allreduce;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, std::span<std::byte> data, reduction op) {
    const topology::two_trees pattern{net.rank(), net.size(), 0};
    const std::array trees{pattern[0], pattern[1]};
    std::size_t turn = 0;
    for (const auto block : chunks{data, op.whole(net.block_bytes())}) {
      const auto& tree = trees[turn++ % 2];
      if (!tree.children().empty()) co_await reduce::two_trees::combine_children(net, now, tree, block, op);
      if (!tree.is_root()) co_await net.send(tree.parent(), now, block);
    }
    co_await broadcast::two_trees::run(net, now, data, 0);
  }
};

}  // namespace chorale::allreduce
