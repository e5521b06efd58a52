// Binomial broadcast.
#pragma once

#include <chorale/algorithm/broadcast/down_tree.hpp>
#include <chorale/topology/binomial.hpp>

namespace chorale::broadcast {

/// Down the binomial tree below `root`, one block after the other: short messages in blocks of the mailbox,
/// long ones by puts into the users' buffers (P2 sections 3.1 and 4.1.2: rendezvous). Cost: ceil(log2 n)
/// steps for the first block, one block time for each further one; with store_and_forward ceil(log2 n) steps
/// of the whole message.  Source: P2 section 4.1.
///
/// Blocks are reused only after the receiver's notification, which the transport waits for in `send`; a
/// user's buffer is written only after its rank has said in this call where it is.
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

/// Each block is passed on as soon as it is there.
struct binomial : basic_binomial<forwarding::per_block> {};
/// The whole message is passed on when all of it is there, to one child after the other, as P2 section 4.1.3
/// has it. P2 section 5.1 gives its formula as the total time of a broadcast; we read it as the time of one
/// step, of which there are ceil(log2 n), since it does not depend on n. A rank far down has its last block
/// later than by `binomial`, except where a block costs more to pass on than to wait for.
struct binomial_store_and_forward : basic_binomial<forwarding::store_and_forward> {};

}  // namespace chorale::broadcast
