// Flat broadcast: the root sends to everyone.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

#include <chorale/core/chunks.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::broadcast {

/// The linear method: for very small groups, and where ranks share cores, since no rank then waits for
/// another one than the root to get a core.  Cost: n - 1 messages, one after the other, at the root.  Source:
/// P2 section 4.1.
struct flat {
  static constexpr auto implements = operation::broadcast;
  template <class T>
  static constexpr bool runs_on = mailbox_transport<T>;

  template <mailbox_transport T>
  static task<> run(T& net, epoch now, std::span<std::byte> data, int root) {
    for (const auto block : chunks{data, net.block_bytes()}) {
      if (net.rank() == root) {
        for (int step = 1; step < net.size(); ++step)
          co_await net.send((root + step) % net.size(), now, block);
      } else {
        auto arrived = co_await net.receive(root, now);
        std::memcpy(block.data(), arrived.bytes().data(), block.size());
      }
    }
  }
};

}  // namespace chorale::broadcast
