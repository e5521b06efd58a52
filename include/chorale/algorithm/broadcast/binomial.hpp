// Binomial broadcast in blocks.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

#include <chorale/core/chunks.hpp>
#include <chorale/topology/binomial.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::broadcast {

/// Down the binomial tree below `root`, one block after the other: a rank forwards a block to its children,
/// then copies it to the user's buffer while the children's blocks are on their way. Cost: ceil(log2 n) steps
/// for the first block, one block time for each further one.  Source: P2 section 4.1.
///
/// Blocks are reused only after the receiver's notification, which the transport waits for in `send`.
struct binomial {
  static constexpr auto implements = operation::broadcast;
  template <class T>
  static constexpr bool runs_on = mailbox_transport<T>;

  template <mailbox_transport T>
  static task<> run(T& net, epoch now, std::span<std::byte> data, int root) {
    const topology::binomial tree{net.rank(), net.size(), root};
    for (const auto block : chunks{data, net.block_bytes()}) {
      if (tree.is_root()) {
        for (const int child : tree.children()) co_await net.send(child, now, block);
      } else {
        auto arrived = co_await net.receive(tree.parent(), now);
        for (const int child : tree.children()) co_await net.send(child, now, arrived.bytes());
        std::memcpy(block.data(), arrived.bytes().data(), block.size());
      }
    }
  }
};

}  // namespace chorale::broadcast
