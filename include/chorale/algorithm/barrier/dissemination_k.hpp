// k-way dissemination barrier.
#pragma once

#include <chorale/topology/dissemination_k.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::barrier {

/// Round m signals the ranks at the distances j (K + 1)^m, j = 1 .. K, and waits for those at the same
/// distances behind: more messages, fewer rounds. K = 1 is the dissemination barrier. Cost: ceil(log_{K+1} n)
/// rounds of at most K signals, any n.  Source: P1 section 3.2 for K = 1.
///
/// A rank signals another at most once a call, so the rounds need no places of their own.
template <int K>
struct dissemination_k {
  static_assert(K >= 1, "each rank signals at least one other a round");
  static constexpr auto implements = operation::barrier;
  template <class T>
  static constexpr bool runs_on = mailbox_transport<T>;

  template <mailbox_transport T>
  static task<> run(T& net, call_id now) {
    for (const auto round : topology::dissemination_k{net.rank(), net.size(), K}) {
      for (int j = 0; j < round.count(); ++j) co_await net.signal(round.to(j), now);
      for (int j = 0; j < round.count(); ++j) co_await net.signalled(round.from(j), now);
    }
  }
};

}  // namespace chorale::barrier
