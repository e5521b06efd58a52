// Binomial scatter.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/lean_algorithm.hpp>
#include <chorale/topology/binomial.hpp>

namespace chorale::scatter {

/// Each rank gets the blocks of its subtree together and passes on those of its children, the largest subtree
/// first. Even blocks. Cost: ceil(log2 n) steps, in which the root sends each byte once and others pass on up
/// to n / 2 blocks. Best for short messages.  Source: the tree of P2 section 4.1.
///
/// The subtree of a rank is the ranks from it on, counted from the root around: their blocks lie together
/// here, and at the root in at most two runs, at which they are parted all the way down. What is passed on
/// belongs to this call and has been sent when it ends.
struct binomial {
  static constexpr auto implements = operation::scatter;
  static constexpr bool uneven = false;
  template <class T>
  static constexpr bool runs_on = mailbox_transport<T>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, blocks<const std::byte> all, std::span<std::byte> mine, int root) {
    const int ranks = net.size();
    const topology::binomial tree{net.rank(), ranks, root};
    const std::size_t one = mine.size();
    const bool is_root = tree.is_root();
    const int subtree = tree.subtree_size();
    std::vector<std::byte> held(is_root || subtree == 1 ? 0 : static_cast<std::size_t>(subtree) * one);
    if (!is_root) {
      const std::span<std::byte> in = subtree == 1 ? mine : std::span<std::byte>{held};
      const auto first = static_cast<std::size_t>(std::min(subtree, ranks - net.rank())) * one;
      co_await transfer::receive(net, tree.parent(), now, in.first(first));
      co_await transfer::receive(net, tree.parent(), now, in.subspan(first));
    }
    for (const int child : tree.children()) {
      const int count = topology::binomial{child, ranks, root}.subtree_size();
      const int before_end = std::min(count, ranks - child);
      if (is_root) {
        co_await transfer::send(net, child, now, all.range(child, before_end));
        co_await transfer::send(net, child, now, all.range(0, count - before_end));
      } else {
        const auto at = static_cast<std::size_t>((child - net.rank() + ranks) % ranks) * one;
        const auto first = static_cast<std::size_t>(before_end) * one;
        const auto theirs =
            std::span<const std::byte>{held}.subspan(at, static_cast<std::size_t>(count) * one);
        co_await transfer::send(net, child, now, theirs.first(first));
        co_await transfer::send(net, child, now, theirs.subspan(first));
      }
    }
    if (is_root) place_own(all[root], mine);
    if (!held.empty()) copy_bytes(mine.data(), held.data(), one);
  }
};

}  // namespace chorale::scatter
