// SPDX-License-Identifier: Apache-2.0
// A broadcast down any tree, the common part of the broadcasts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include <chorale/algorithm/transfer.hpp>
#include <chorale/topology/star.hpp>

namespace chorale::broadcast {

/// How a rank forwards a message longer than a block: each piece to all children as soon as it arrives; or,
/// when all of it has arrived, the whole message to one child after the other, so that the first child, which
/// has the largest subtree, does not wait for the blocks of the others.
enum class forwarding {
  per_block,          ///< each piece at once
  store_and_forward,  ///< the whole message
};

namespace detail {

/// Bytes of one put of a long message: long enough to make its overhead negligible, short enough for the next
/// rank to forward meanwhile.
inline constexpr std::size_t segment_bytes = std::size_t{1} << 17;

/// Short messages: block by block through the mailboxes. A rank forwards a block to its children, and copies
/// it to the user's buffer while the forwarded blocks are on their way. A block that goes to all children at
/// once is staged only once. If the transport has messages of any length, a message longer than a block goes
/// to one child after the other, as in MPI implementations.
template <forwarding How, mailbox_transport Net, class Tree>
task<> down_by_blocks(Net& net, call_id now, std::span<std::byte> data, Tree tree) {
  if constexpr (message_transport<Net>) {
    if (transfer::is_whole(net, data.size())) {
      if (!tree.is_root()) co_await transfer::receive(net, tree.parent(), now, data);
      for (const int child : tree.children()) co_await transfer::send(net, child, now, data);
      co_return;
    }
  }
  const bool at_once = How == forwarding::per_block || data.size() <= net.block_bytes();
  for (const auto block : chunks{data, net.block_bytes()}) {
    if (!tree.is_root()) {
      const auto arrived = co_await net.receive(tree.parent(), now);
      if (at_once) {
        auto payload =
            transfer::for_several(net, transfer::exact(net, tree.parent(), now, arrived, block.size()));
        for (const int child : tree.children()) co_await net.send(child, now, payload);
      }
      transfer::place(net, tree.parent(), now, arrived, block);
    } else if (at_once) {
      auto payload = transfer::for_several(net, block);
      for (const int child : tree.children()) co_await net.send(child, now, payload);
    }
  }
  if (at_once) co_return;
  for (const int child : tree.children())
    for (const auto block : chunks{data, net.block_bytes()}) co_await net.send(child, now, block);
}

/// Long messages: each rank sends its buffer's address to its parent, which puts the data there segment by
/// segment.
template <forwarding How, one_sided_transport Net, class Tree>
task<> down_by_puts(Net& net, call_id now, std::span<std::byte> data, Tree tree) {
  const auto exposed = transfer::expose(net, data);
  const remote_region here = exposed.region();
  if (!tree.is_root()) co_await net.send(tree.parent(), now, transfer::bytes_of(here));
  std::vector<remote_region> there;
  for (const int child : tree.children()) {
    const auto offer = co_await net.receive(child, now);
    there.push_back(transfer::read_region(net, child, now, offer, data.size()));
  }
  // If no rank forwards data, segments would only add overhead.
  const bool passed_on = net.size() > 2 && !std::is_same_v<Tree, topology::star>;
  const std::size_t segment = How == forwarding::per_block && passed_on ? segment_bytes : data.size();
  for (std::size_t at = 0; at < data.size(); at += segment) {
    if (!tree.is_root()) {
      const auto arrived = co_await net.receive(tree.parent(), now);
      static_cast<void>(transfer::exact(net, tree.parent(), now, arrived, 0));
    }
    const auto part = data.subspan(at, std::min(segment, data.size() - at));
    int child = 0;
    for (const auto& region : there) {
      co_await net.put(region, at, exposed, part, now);
      co_await net.send(tree.children()[child++], now, {});
    }
  }
  for (const int child : tree.children()) co_await net.flush(child, now);
  if (!tree.is_root()) exposed.copy_back();
}

template <forwarding How, mailbox_transport Net, class Tree>
task<> down_tree(Net& net, call_id now, std::span<std::byte> data, const Tree& tree) {
  if (net.size() == 2 && transfer::is_zero_copy_one_way(net, data.size()) && transfer::own_cores_copy(net)) {
    if (tree.is_root()) return transfer::send(net, tree.children()[0], now, data);
    return transfer::receive(net, tree.parent(), now, data);
  }
  if constexpr (one_sided_transport<Net>) {
    // Blocks need not wait for a receiver's address, so puts pay off only from a larger size than in an
    // exchange.
    if (transfer::is_zero_copy(net, data.size() / 4))
      return broadcast::detail::down_by_puts<How>(net, now, data, tree);
  }
  return broadcast::detail::down_by_blocks<How>(net, now, data, tree);
}

}  // namespace detail
}  // namespace chorale::broadcast
