// SPDX-License-Identifier: Apache-2.0
// Two-level barrier.
#pragma once

#include <chorale/algorithm/levels.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::barrier {

/// The ranks of each place synchronise by `In`, then the leaders of all places by `Between`, and then the
/// ranks of each place once more by `Out`, so that each waits for its leader. Cost: two barriers within a
/// place, and one among as many ranks as there are places. Any assignment of ranks to places. Source: Graham
/// et al. 2011 (Cheetah).
///
///     communicator<transport::rc, barrier::two_level<barrier::last_arriver, barrier::dissemination>> comm;
///
/// `Out` runs in a phase of its own, so that a signal of `In` satisfies none of its waits.
template <class In, class Between, class Out = In>
struct two_level : of_levels<In, Between, Out> {
  static_assert(In::implements == operation::barrier && Between::implements == operation::barrier &&
                    Out::implements == operation::barrier,
                "barrier::two_level<In, Between, Out> is composed of three barriers");
  static constexpr auto implements = operation::barrier;

  template <placed_transport Net>
  static task<> run(Net& net, call_id now) {
    auto& ranks = levels<Net>::of(net);
    co_await In::run(ranks.inside(), now);
    if (ranks.leads()) co_await Between::run(ranks.between(), now);
    co_await Out::run(ranks.inside(), now.later(1));
  }
};

}  // namespace chorale::barrier
