// Ring allgather.
#pragma once

#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/topology/ring.hpp>

namespace chorale::allgather {

/// In each step a rank passes to its right the block that came last, and gets another from its left. Even and
/// uneven blocks. Cost: n - 1 steps of one block; zero copy above the transport's threshold. Best for long
/// messages on large groups.  Source: P4 section 2.2, T = (p - 1) (ts + m tw).
///
/// A block is only written by the one step that brings it, so nothing is overwritten that is still read.
struct ring {
  static constexpr auto implements = operation::allgather;
  static constexpr bool uneven = true;
  template <class T>
  static constexpr bool runs_on = mailbox_transport<T>;

  template <mailbox_transport Net>
  static task<> run(Net& net, epoch now, blocks<std::byte> all) {
    for (const auto step : topology::ring{net.rank(), net.size()}) {
      co_await transfer::exchange(net, now, step.to, all[step.send_block], step.from, all[step.receive_block]);
    }
  }
};

}  // namespace chorale::allgather
