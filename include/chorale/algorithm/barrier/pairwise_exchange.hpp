// SPDX-License-Identifier: Apache-2.0
// Pairwise exchange barrier.
#pragma once

#include <chorale/topology/pairwise_exchange.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::barrier {

/// Recursive doubling: in step m a rank and rank xor 2^m signal each other. If n is not a power of two, each
/// surplus rank first signals a lower partner, which signals it back at the end. Cost: log2 n steps;
/// floor(log2 n) + 2 if n is not a power of two. Source: P1 section 3.1 (RPE).
struct pairwise_exchange {
  static constexpr auto implements = operation::barrier;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now) {
    using kind = topology::pairwise_exchange::kind;
    for (const auto step : topology::pairwise_exchange{net.rank(), net.size()}) {
      if (step.kind != kind::receive) co_await net.signal(step.peer, now);
      if (step.kind != kind::send) co_await net.signalled(step.peer, now);
    }
  }
};

}  // namespace chorale::barrier
