// SPDX-License-Identifier: Apache-2.0
// Scatter of two levels.
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

/// The root hands all blocks to the leader of its place, which sends each other leader those of its place by
/// `Between`; each leader scatters them within its place by `In`. Each place gets one message, or stream of
/// messages. Even blocks. Cost: a message of all blocks within a place if the root does not lead it, a
/// scatter among as many ranks as there are places, and one within a place. Any places.
template <class In, class Between>
struct two_level {
  static_assert(In::implements == operation::scatter && Between::implements == operation::scatter,
                "scatter::two_level<In, Between> is composed of two scatters");
  static_assert(Between::uneven,
                "scatter::two_level<In, Between>: places may differ in size, so that Between "
                "scatters uneven blocks");
  static constexpr auto implements = operation::scatter;
  static constexpr bool uneven = false;
  template <class Net>
  static constexpr bool runs_on = run_on_levels<Net, In, Between>;
  template <class Net>
  static bool suits(const Net& net) noexcept {
    return chorale::has_two_levels(net);
  }

  template <placed_transport Net>
  static task<> run(Net& net, call_id now, blocks<const std::byte> all, std::span<std::byte> mine, int root) {
    auto& ranks = levels<Net>::of(net);
    const places& where = net.layout();
    const int place = where.of(net.rank());
    const int home = where.of(root);
    const int target = chorale::rank_within_place(where, root);
    const bool is_root = net.rank() == root;
    const place_blocks by_place{where, block_layout::even(net.size(), mine.size())};
    const bool is_straight = is_root && by_place.are_straight();
    const bool holds_all = is_root || (ranks.leads() && place == home);
    const auto aside = chorale::scratch_of(net, holds_all && !is_straight ? by_place.total() : 0);
    if (is_root && !is_straight) by_place.pack(all, aside.memory());
    std::span<const std::byte> data = aside.memory();
    if (is_straight) data = all.buffer().first(by_place.total());
    if (target != 0 && place == home) {
      if (is_root) co_await transfer::send(ranks.inside(), 0, now, data);
      if (ranks.leads()) co_await transfer::receive(ranks.inside(), target, now, aside.memory());
    }
    if (!ranks.leads()) {
      co_await In::run(ranks.inside(), now, {}, mine, 0);
      co_return;
    }
    const auto of_place = chorale::scratch_of(net, by_place.bytes_of(place));
    blocks<const std::byte> of_places;
    if (holds_all) of_places = {data, by_place.of_places()};
    call_id between = now;
    between.what = operation::scatterv;
    co_await Between::run(ranks.between(), between, of_places, of_place.memory(), home);
    co_await In::run(ranks.inside(), now, {of_place.memory(), by_place.within(place)}, mine, 0);
  }
};

}  // namespace chorale::scatter
