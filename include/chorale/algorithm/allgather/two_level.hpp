// SPDX-License-Identifier: Apache-2.0
// Two-level allgather.
#pragma once

#include <chorale/algorithm/levels.hpp>
#include <chorale/algorithm/place_blocks.hpp>
#include <chorale/algorithm/scratch.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::allgather {

/// Each place gathers its blocks at its leader by `In`, the leaders exchange the blocks of whole places by
/// `Between`, and each sends all of them to its place by `Out`, a broadcast. Each place gets each block once.
/// Even and uneven blocks. If the ranks of a place are not neighbours, or blocks have gaps, they travel in
/// the order of places, and each rank copies them into their final positions. Cost: a gather and a broadcast
/// of everything within a place, and an allgather among as many ranks as there are places. Any assignment of
/// ranks to places.
template <class In, class Between, class Out>
struct two_level : of_levels<In, Between, Out> {
  static_assert(In::implements == operation::gather && Between::implements == operation::allgather &&
                    Out::implements == operation::broadcast,
                "allgather::two_level<In, Between, Out> is composed of a gather, an allgather and a "
                "broadcast");
  static_assert(In::uneven && Between::uneven,
                "allgather::two_level<In, Between, Out> needs algorithms for uneven blocks, since places "
                "may differ in size");
  static constexpr auto implements = operation::allgather;
  static constexpr bool uneven = true;

  template <placed_transport Net>
  static task<> run(Net& net, call_id now, blocks<std::byte> all) {
    auto& ranks = levels<Net>::of(net);
    const place_blocks by_place{net.layout(), all.layout()};
    const bool is_straight = by_place.are_straight();
    const auto aside = chorale::scratch_of(net, is_straight ? 0 : by_place.total());
    const auto data = is_straight ? all.buffer().first(by_place.total()) : aside.memory();
    const auto mine = all[net.rank()];
    // The ranks of a gather know each other's sizes only if these are all the same.
    const call_id gathering = all.layout().is_even() ? now : now.with_private_sizes();
    if (ranks.leads()) {
      const int place = net.layout().of(net.rank());
      const blocks<std::byte> of_places{data, by_place.of_places()};
      co_await In::run(ranks.inside(), gathering, mine, {of_places[place], by_place.within(place)}, 0);
      co_await Between::run(ranks.between(), now, of_places);
    } else {
      co_await In::run(ranks.inside(), gathering, mine, {}, 0);
    }
    co_await Out::run(ranks.inside(), now.later(1), data, 0);
    if (!is_straight) by_place.unpack(data, all);
  }
};

}  // namespace chorale::allgather
