// SPDX-License-Identifier: Apache-2.0
// Pipelined chain broadcast.
#pragma once

#include <chorale/algorithm/broadcast/down_tree.hpp>
#include <chorale/topology/chain.hpp>

namespace chorale::broadcast {

/// Sends the message from rank to rank, root, root + 1, ..., each block as soon as it arrives, so every rank
/// sends each byte only once for any n. Cost: n - 1 block times for the first block, then one per block. For
/// long messages.
struct chain {
  static constexpr auto implements = operation::broadcast;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, std::span<std::byte> data, int root) {
    return detail::down_tree<forwarding::per_block>(net, now, data,
                                                    topology::chain{net.rank(), net.size(), root});
  }
};

}  // namespace chorale::broadcast
