// SPDX-License-Identifier: Apache-2.0
// k-way dissemination barrier.
#pragma once

#include <chorale/topology/dissemination_k.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::barrier {

/// Round m signals the ranks at distances +j (k + 1)^m, j = 1 .. k, and waits for those at the same distances
/// in the other direction: more messages, fewer rounds. k = 1 is the dissemination barrier. Cost:
/// ceil(log_{k+1} n) rounds of at most k signals, any n. Source: P1 section 3.2 for k = 1.
///
/// A rank signals each other rank at most once per call, so rounds need no separate signals.
template <int Degree>
struct dissemination_k {
  static_assert(Degree >= 1, "each rank signals at least one other a round");
  static constexpr auto implements = operation::barrier;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now) {
    for (const auto round : topology::dissemination_k{net.rank(), net.size(), Degree}) {
      for (int j = 0; j < round.count(); ++j) co_await net.signal(round.to(j), now);
      for (int j = 0; j < round.count(); ++j) co_await net.signalled(round.from(j), now);
    }
  }
};

}  // namespace chorale::barrier
