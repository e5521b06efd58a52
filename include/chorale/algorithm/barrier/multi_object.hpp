// SPDX-License-Identifier: Apache-2.0
// Multi-object barrier.
#pragma once

#include <chorale/algorithm/levels.hpp>
#include <chorale/algorithm/speakers.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::barrier {

/// The ranks of each place synchronise by `In`; the speakers of each place signal all other places, each
/// speaker some of them, and wait for their signals; and the ranks of each place synchronise once more by
/// `Out`. Cost: two barriers within a place, and between them one step of P / c signals for each of c
/// speakers, where P is the number of places: fewer steps than `two_level` takes. Any assignment of ranks to
/// places. Source: Huang et al. 2023 (multi-object interprocess collectives), with one step between places
/// instead of one for each power of c + 1.
///
/// `Out` runs in a phase of its own, so that a signal of `In` satisfies none of its waits.
template <class In, class Out = In>
struct multi_object : of_levels<In, Out> {
  static_assert(In::implements == operation::barrier && Out::implements == operation::barrier,
                "barrier::multi_object<In, Out> is composed of two barriers");
  static constexpr auto implements = operation::barrier;

  template <placed_transport Net>
  static task<> run(Net& net, call_id now) {
    auto& inside = levels<Net>::of(net).inside();
    const auto& ours = speakers<Net>::of(net);
    co_await In::run(inside, now);
    for (const int to : ours.partners())
      if (to != net.rank()) co_await net.signal(to, now);
    for (const int from : ours.partners())
      if (from != net.rank()) co_await net.signalled(from, now);
    co_await Out::run(inside, now.later(1));
  }
};

}  // namespace chorale::barrier
