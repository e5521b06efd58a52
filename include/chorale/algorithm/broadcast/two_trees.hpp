// Broadcast down two trees at once.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/chunks.hpp>
#include <chorale/topology/two_trees.hpp>

namespace chorale::broadcast {

/// The message is divided into blocks, which go down two binary trees by turns, each as soon as it is there.
/// No rank has children in both, so that every rank sends and receives each byte about once, as in a `chain`,
/// and a block is everywhere after about 2 log2 n steps. Cost: m + 4 log2 n steps of a block for m blocks,
/// any n. Zero copy where long. For long messages; `circulant` has fewer rounds, but more peers.
/// Source: `topology::two_trees`.
///
/// Every rank handles the blocks in ascending order, so that one waits only for a rank that is nearer to the
/// root or has an earlier block in hand. Each block of `data` is received once and sent on after that; puts
/// have been placed when the call is over.
struct two_trees {
  static constexpr auto implements = operation::broadcast;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;
  /// A block of a long message, in bytes.
  static constexpr std::size_t segment_bytes = std::size_t{1} << 16;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, std::span<std::byte> data, int root) {
    const topology::two_trees pattern{net.rank(), net.size(), root};
    const both trees{pattern[0], pattern[1]};
    if constexpr (message_transport<Net>) {
      if (transfer::is_whole(net, data.size())) return by_messages(net, now, data, trees);
    }
    if constexpr (one_sided_transport<Net>) {
      // Blocks flow without waiting for a receiver's address, so that puts pay off later than in an exchange.
      if (transfer::is_zero_copy(net, data.size() / 4)) return by_puts(net, now, data, trees);
    }
    return by_copies(net, now, data, trees);
  }

 private:
  using both = std::array<topology::two_trees::tree, 2>;

  template <mailbox_transport Net>
  static task<> by_copies(Net& net, call_id now, std::span<std::byte> data, both trees) {
    std::size_t turn = 0;
    for (const auto block : chunks{data, net.block_bytes()}) {
      const auto& tree = trees[turn++ % 2];
      if (tree.is_root()) {
        auto payload = transfer::for_several(net, block);
        for (const int child : tree.children()) co_await net.send(child, now, payload);
        continue;
      }
      const auto arrived = co_await net.receive(tree.parent(), now);
      auto payload =
          transfer::for_several(net, transfer::exact(net, tree.parent(), now, arrived, block.size()));
      for (const int child : tree.children()) co_await net.send(child, now, payload);
      transfer::place(net, tree.parent(), now, arrived, block);
    }
  }

  /// Blocks are messages of the transport, of which a rank has two at once on their way down.
  template <message_transport Net>
  static task<> by_messages(Net& net, call_id now, std::span<std::byte> data, both trees) {
    std::size_t turn = 0;
    for (const auto block : chunks{data, segment_bytes}) {
      const auto& tree = trees[turn++ % 2];
      if (!tree.is_root()) {
        const transfer::coming from_parent{tree.parent(), block};
        co_await transfer::move(net, now, {}, std::span{&from_parent, 1});
      }
      std::vector<transfer::going> to_children;
      for (const int child : tree.children()) to_children.push_back({child, block});
      co_await transfer::move(net, now, to_children, {});
    }
  }

  /// Each rank tells its parents where its buffer is, and they put blocks there.
  template <one_sided_transport Net>
  static task<> by_puts(Net& net, call_id now, std::span<std::byte> data, both trees) {
    const auto exposed = net.expose(data);
    const remote_region here = exposed.region();
    for (const auto& tree : trees)
      if (!tree.is_root()) co_await net.send(tree.parent(), now, transfer::bytes_of(here));
    std::array<std::vector<remote_region>, 2> there;
    for (std::size_t i = 0; i < trees.size(); ++i) {
      for (const int child : trees[i].children()) {
        const auto address = co_await net.receive(child, now);
        there[i].push_back(transfer::read_region(net, child, now, address, data.size()));
      }
    }
    std::size_t turn = 0;
    std::size_t at = 0;
    for (const auto block : chunks{data, segment_bytes}) {
      const std::size_t which = turn++ % 2;
      if (!trees[which].is_root()) co_await net.notified(trees[which].parent(), now);
      for (const auto& child : there[which]) co_await net.put_notified(child, at, exposed, block, now);
      at += block.size();
    }
    for (const auto& tree : trees)
      for (const int child : tree.children()) co_await net.flush(child, now);
  }
};

}  // namespace chorale::broadcast
