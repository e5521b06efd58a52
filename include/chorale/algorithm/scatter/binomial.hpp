// SPDX-License-Identifier: Apache-2.0
// Binomial scatter.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include <chorale/algorithm/scratch.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/topology/binomial.hpp>

namespace chorale::scatter {

/// Each rank receives the blocks of its subtree together and forwards those of its children, the largest
/// subtree first. Even blocks. Cost: ceil(log2 n) steps; the root sends each byte once, other ranks forward
/// up to n / 2 blocks. Best for short messages. Source: the tree of P2 section 4.1.
///
/// The subtree of a rank consists of consecutive ranks from that rank on, wrapping around after the last
/// rank. Their blocks are contiguous at this rank, and at the root form at most two runs; they are sent as
/// these runs all the way down. Forwarded blocks are in memory of this call and have been sent when it ends.
struct binomial {
  static constexpr auto implements = operation::scatter;
  static constexpr bool uneven = false;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, blocks<const std::byte> all, std::span<std::byte> mine, int root) {
    const int ranks = net.size();
    const topology::binomial tree{net.rank(), ranks, root};
    const std::size_t one = mine.size();
    const bool is_root = tree.is_root();
    const int subtree = tree.subtree_size();
    const auto kept =
        chorale::scratch_of(net, is_root || subtree == 1 ? 0 : static_cast<std::size_t>(subtree) * one);
    const auto held = kept.memory();
    if (!is_root) {
      const std::span<std::byte> in = subtree == 1 ? mine : held;
      const auto first = static_cast<std::size_t>(std::min(subtree, ranks - net.rank())) * one;
      if (transfer::is_one_message(net, first)) {
        const auto message = co_await net.receive(tree.parent(), now);
        transfer::place(net, tree.parent(), now, message, in.first(first));
      } else {
        co_await transfer::receive(net, tree.parent(), now, in.first(first));
      }
      if (first != in.size()) co_await transfer::receive(net, tree.parent(), now, in.subspan(first));
    }
    for (const int child : tree.children()) {
      const int count = topology::binomial{child, ranks, root}.subtree_size();
      const int before_end = std::min(count, ranks - child);
      const auto theirs = [&](int rank, int blocks) -> std::span<const std::byte> {
        if (is_root) return all.range(rank, blocks);
        const int at = rank - net.rank() + (rank < net.rank() ? ranks : 0);
        return held.subspan(static_cast<std::size_t>(at) * one, static_cast<std::size_t>(blocks) * one);
      };
      const auto first = theirs(child, before_end);
      if (transfer::is_one_message(net, first.size()))
        co_await net.send(child, now, first);
      else
        co_await transfer::send(net, child, now, first);
      if (count != before_end) co_await transfer::send(net, child, now, theirs(0, count - before_end));
    }
    if (is_root) place_own(all[root], mine);
    if (!held.empty()) chorale::copy_bytes(mine.data(), held.data(), one);
  }
};

}  // namespace chorale::scatter
