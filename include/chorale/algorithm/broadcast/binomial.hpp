// SPDX-License-Identifier: Apache-2.0
// Binomial broadcast.
#pragma once

#include <chorale/algorithm/broadcast/down_tree.hpp>
#include <chorale/topology/binomial.hpp>

namespace chorale::broadcast {

/// Sends the message down the binomial tree from `root`, block by block: short messages in blocks of the
/// mailbox, long ones by puts into the users' buffers (P2 sections 3.1 and 4.1.2: rendezvous). Cost:
/// ceil(log2 n) steps for the first block, then one block time per block; with store_and_forward, ceil(log2
/// n) steps of the whole message. Source: P2 section 4.1.
///
/// A block is reused only after the receiver's acknowledgement, which the transport waits for in `send`. A
/// user's buffer is written only after its rank has sent its address in this call.
template <forwarding How>
struct basic_binomial {
  static constexpr auto implements = operation::broadcast;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, std::span<std::byte> data, int root) {
    return detail::down_tree<How>(net, now, data, topology::binomial{net.rank(), net.size(), root});
  }
};

/// Forwards each block as soon as it arrives.
struct binomial : basic_binomial<forwarding::per_block> {};
/// Forwards the whole message once all of it has arrived, to one child after the other, as in P2 section
/// 4.1.3. P2 section 5.1 gives its formula as the total time of a broadcast; since that does not depend on n,
/// we take it as the time of one of the ceil(log2 n) steps. A rank far down the tree gets its last block
/// later than with `binomial`, unless forwarding a block costs more than waiting for it.
struct binomial_store_and_forward : basic_binomial<forwarding::store_and_forward> {};

}  // namespace chorale::broadcast
