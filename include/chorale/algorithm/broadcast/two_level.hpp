// SPDX-License-Identifier: Apache-2.0
// Two-level broadcast.
#pragma once

#include <cstddef>
#include <span>

#include <chorale/algorithm/levels.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::broadcast {

/// The leader of the root's place sends the message to the leaders of the other places by `Between`, and each
/// leader to the ranks of its place by `In`. A root that does not lead its place sends to that place first.
/// Each place gets the message once. Cost: a broadcast among as many ranks as there are places, and one or
/// two within a place. Any assignment of ranks to places. Source: Graham et al. 2011 (Cheetah).
template <class In, class Between>
struct two_level : of_levels<In, Between> {
  static_assert(In::implements == operation::broadcast && Between::implements == operation::broadcast,
                "broadcast::two_level<In, Between> is composed of two broadcasts");
  static constexpr auto implements = operation::broadcast;

  template <placed_transport Net>
  static task<> run(Net& net, call_id now, std::span<std::byte> data, int root) {
    auto& ranks = levels<Net>::of(net);
    const placed_root from{net.layout(), net.rank(), root};
    const bool begins_inside = from.is_near && from.number != 0;
    if (begins_inside) co_await In::run(ranks.inside(), now, data, from.number);
    if (ranks.leads()) co_await Between::run(ranks.between(), now, data, from.place);
    if (!begins_inside) co_await In::run(ranks.inside(), now, data, 0);
  }
};

}  // namespace chorale::broadcast
