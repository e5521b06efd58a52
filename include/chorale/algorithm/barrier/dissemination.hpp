// SPDX-License-Identifier: Apache-2.0
// Dissemination barrier.
#pragma once

#include <chorale/topology/dissemination.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::barrier {

/// Round m signals (rank + 2^m) mod n and waits for (rank - 2^m) mod n.
/// Cost: ceil(log2 n) rounds of one signal, any n. Source: P1 section 3.2 (RDS).
///
/// A signal is overwritten by later ones of the same peer. A wait for call n is satisfied by call n or a
/// later one, so a peer that is one barrier ahead does no harm, and none can be two ahead.
struct dissemination {
  static constexpr auto implements = operation::barrier;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now) {
    for (const auto round : topology::dissemination{net.rank(), net.size()}) {
      co_await net.signal(round.to, now);
      co_await net.signalled(round.from, now);
    }
  }
};

}  // namespace chorale::barrier
