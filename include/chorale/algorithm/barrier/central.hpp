// SPDX-License-Identifier: Apache-2.0
// Central barrier.
#pragma once

#include <chorale/transport/concepts.hpp>

namespace chorale::barrier {

/// All ranks signal rank 0, which then signals all. Slow if each rank has a core, but each rank waits only
/// once, so it is the fastest where ranks outnumber cores and each wait costs context switches. Cost: 2 (n -
/// 1) signals at rank 0, two steps. Source: the degenerate tree of P1 section 3.3, fan-in n - 1.
struct central {
  static constexpr auto implements = operation::barrier;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now) {
    if (net.rank() != 0) {
      co_await net.signal(0, now);
      co_await net.signalled(0, now);
      co_return;
    }
    for (int rank = 1; rank < net.size(); ++rank) co_await net.signalled(rank, now);
    for (int rank = 1; rank < net.size(); ++rank) co_await net.signal(rank, now);
  }
};

}  // namespace chorale::barrier
