// SPDX-License-Identifier: Apache-2.0
// Two-level scatter.
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

namespace chorale::scatter {

/// The root hands all blocks to the leader of its place, which sends each other leader the blocks of that
/// leader's place by `Between`; each leader scatters them within its place by `In`. Each place gets one
/// message, or stream of messages. Even blocks. Cost: a message of all blocks within a place if the root does
/// not lead it, a scatter among as many ranks as there are places, and one within a place. Any assignment of
/// ranks to places.
template <class In, class Between>
struct two_level : of_levels<In, Between> {
  static_assert(In::implements == operation::scatter && Between::implements == operation::scatter,
                "scatter::two_level<In, Between> is composed of two scatters");
  static_assert(Between::uneven,
                "scatter::two_level<In, Between>: places may differ in size, so that Between "
                "scatters uneven blocks");
  static constexpr auto implements = operation::scatter;
  static constexpr bool uneven = false;

  template <placed_transport Net>
  static task<> run(Net& net, call_id now, blocks<const std::byte> all, std::span<std::byte> mine, int root) {
    auto& ranks = levels<Net>::of(net);
    const places& where = net.layout();
    const int place = where.of(net.rank());
    const placed_root from{where, net.rank(), root};
    const place_blocks by_place{where, block_layout::even(net.size(), mine.size())};
    const bool is_straight = from.is_me && by_place.are_straight();
    const std::size_t held = from.holds_all ? by_place.total() : ranks.leads() ? by_place.bytes_of(place) : 0;
    const auto aside = chorale::scratch_of(net, is_straight ? 0 : held);
    // In place the root's block stays where the program has it, perhaps in memory that cannot be written: the
    // equal bytes that come back, unless they are taken from there in the first place, go elsewhere.
    const bool is_taken_there = is_straight && ranks.leads();
    const bool keeps = from.is_me && !is_taken_there && mine.data() == all[root].data();
    const auto unused = chorale::scratch_of(net, keeps ? mine.size() : 0);
    if (keeps) mine = unused.memory();
    std::span<const std::byte> data = aside.memory();
    if (is_straight)
      data = all.buffer().first(held);
    else if (from.is_me)
      by_place.pack(all, aside.memory());
    if (from.hands_over()) {
      if (from.is_me)
        co_await transfer::send(ranks.inside(), 0, now, data);
      else
        co_await transfer::receive(ranks.inside(), from.number, now, aside.memory());
    }
    if (!ranks.leads()) {
      co_await In::run(ranks.inside(), now, {}, mine, 0);
      co_return;
    }
    blocks<const std::byte> of_places;
    if (from.holds_all) of_places = {data, by_place.of_places()};
    const auto of_mine = from.holds_all ? of_places[place] : data;
    // The leader that has all blocks uses those of its own place where they are: `Between` does not copy
    // them.
    const std::span<std::byte> target{const_cast<std::byte*>(of_mine.data()), of_mine.size()};
    const call_id between = where.are_equal() ? now : now.with_private_sizes();
    co_await Between::run(ranks.between(), between, of_places, target, from.place);
    co_await In::run(ranks.inside(), now, {of_mine, by_place.within(place)}, mine, 0);
  }
};

}  // namespace chorale::scatter
