// SPDX-License-Identifier: Apache-2.0
// Two-level gather.
#pragma once

#include <cstddef>
#include <span>

#include <chorale/algorithm/levels.hpp>
#include <chorale/algorithm/place_blocks.hpp>
#include <chorale/algorithm/scratch.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/places.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::gather {

/// Each place gathers its blocks at its leader by `In`, the leaders gather the blocks of whole places at the
/// leader of the root's place by `Between`, and that leader hands them to the root. Each place sends one
/// message, or stream of messages. Even blocks. Cost: a gather within a place, one among as many ranks as
/// there are places, and a message of all blocks within a place if the root does not lead it. Any assignment
/// of ranks to places.
template <class In, class Between>
struct two_level : of_levels<In, Between> {
  static_assert(In::implements == operation::gather && Between::implements == operation::gather,
                "gather::two_level<In, Between> is composed of two gathers");
  static_assert(Between::uneven,
                "gather::two_level<In, Between>: places may differ in size, so that Between "
                "gathers uneven blocks");
  static constexpr auto implements = operation::gather;
  static constexpr bool uneven = false;

  template <placed_transport Net>
  static task<> run(Net& net, call_id now, std::span<const std::byte> mine, blocks<std::byte> all, int root) {
    auto& ranks = levels<Net>::of(net);
    const places& where = net.layout();
    const int place = where.of(net.rank());
    const placed_root to{where, net.rank(), root};
    const place_blocks by_place{where, block_layout::even(net.size(), mine.size())};
    const bool is_straight = to.is_me && by_place.are_straight();
    const std::size_t held = to.holds_all ? by_place.total() : ranks.leads() ? by_place.bytes_of(place) : 0;
    const auto aside = chorale::scratch_of(net, is_straight ? 0 : held);
    const auto data = is_straight ? all.buffer().first(held) : aside.memory();
    if (ranks.leads()) {
      blocks<std::byte> of_places;
      if (to.holds_all) of_places = {data, by_place.of_places()};
      const auto of_mine = to.holds_all ? of_places[place] : data;
      co_await In::run(ranks.inside(), now, mine, {of_mine, by_place.within(place)}, 0);
      const call_id between = where.are_equal() ? now : now.with_private_sizes();
      co_await Between::run(ranks.between(), between, of_mine, of_places, to.place);
    } else {
      co_await In::run(ranks.inside(), now, mine, {}, 0);
    }
    if (to.hands_over()) {
      if (to.is_me)
        co_await transfer::receive(ranks.inside(), 0, now, data);
      else
        co_await transfer::send(ranks.inside(), to.number, now, data);
    }
    if (to.is_me && !is_straight) by_place.unpack(data, all);
  }
};

}  // namespace chorale::gather
