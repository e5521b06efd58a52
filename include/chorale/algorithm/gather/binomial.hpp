// SPDX-License-Identifier: Apache-2.0
// Binomial gather.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include <chorale/algorithm/scratch.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/topology/binomial.hpp>

namespace chorale::gather {

/// Each rank collects the blocks of its subtree and sends them to its parent together. Even blocks. Cost:
/// ceil(log2 n) steps; the root receives each byte once, other ranks forward up to n / 2 blocks. Best for
/// short messages. Source: the tree of P2 section 4.1, upwards.
///
/// The subtree of a rank consists of consecutive ranks from that rank on, wrapping around after the last
/// rank. Their blocks are contiguous at this rank, and at the root form at most two runs; they are sent as
/// these runs all the way up. Collected blocks are in memory of this call.
struct binomial {
  static constexpr auto implements = operation::gather;
  static constexpr bool uneven = false;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, std::span<const std::byte> mine, blocks<std::byte> all, int root) {
    const int ranks = net.size();
    const topology::binomial tree{net.rank(), ranks, root};
    const std::size_t one = mine.size();
    const bool is_root = tree.is_root();
    const int subtree = tree.subtree_size();
    const auto kept =
        chorale::scratch_of(net, is_root || subtree == 1 ? 0 : static_cast<std::size_t>(subtree) * one);
    const auto collected = kept.memory();
    if (!collected.empty()) chorale::copy_bytes(collected.data(), mine.data(), one);
    if (is_root) place_own(mine, all[root]);
    const auto children = tree.children();
    // The smallest subtrees are the first to be complete.
    for (int c = children.size() - 1; c >= 0; --c) {
      const int child = children[c];
      const int count = topology::binomial{child, ranks, root}.subtree_size();
      const int before_end = std::min(count, ranks - child);
      const auto theirs = [&](int rank, int blocks) -> std::span<std::byte> {
        if (is_root) return all.range(rank, blocks);
        const int at = rank - net.rank() + (rank < net.rank() ? ranks : 0);
        return collected.subspan(static_cast<std::size_t>(at) * one, static_cast<std::size_t>(blocks) * one);
      };
      const auto first = theirs(child, before_end);
      if (transfer::is_one_message(net, first.size())) {
        const auto message = co_await net.receive(child, now);
        transfer::place(net, child, now, message, first);
      } else {
        co_await transfer::receive(net, child, now, first);
      }
      if (count != before_end) co_await transfer::receive(net, child, now, theirs(0, count - before_end));
    }
    if (is_root) co_return;
    const std::span<const std::byte> out = subtree == 1 ? mine : std::span<const std::byte>{collected};
    const auto first = static_cast<std::size_t>(std::min(subtree, ranks - net.rank())) * one;
    if (transfer::is_one_message(net, first))
      co_await net.send(tree.parent(), now, out.first(first));
    else
      co_await transfer::send(net, tree.parent(), now, out.first(first));
    if (first != out.size()) co_await transfer::send(net, tree.parent(), now, out.subspan(first));
  }
};

}  // namespace chorale::gather
