// SPDX-License-Identifier: Apache-2.0
// Gather of two levels.
#pragma once

#include <cstddef>
#include <span>

#include <chorale/algorithm/levels.hpp>
#include <chorale/algorithm/place_blocks.hpp>
#include <chorale/algorithm/scratch.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/places.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::gather {

/// Each place gathers its blocks at its leader by `In`, the leaders gather the blocks of whole places at the
/// leader of the root's place by `Between`, which hands them to the root. Each place sends one message, or
/// stream of messages. Even blocks. Cost: a gather within a place, one among as many ranks as there are
/// places, and a message of all blocks within a place if the root does not lead it. Any places.
template <class In, class Between>
struct two_level {
  static_assert(In::implements == operation::gather && Between::implements == operation::gather,
                "gather::two_level<In, Between> is composed of two gathers");
  static_assert(Between::uneven,
                "gather::two_level<In, Between>: places may differ in size, so that Between "
                "gathers uneven blocks");
  static constexpr auto implements = operation::gather;
  static constexpr bool uneven = false;
  template <class Net>
  static constexpr bool runs_on = run_on_levels<Net, In, Between>;
  template <class Net>
  static bool suits(const Net& net) noexcept {
    return chorale::has_two_levels(net);
  }

  template <placed_transport Net>
  static task<> run(Net& net, call_id now, std::span<const std::byte> mine, blocks<std::byte> all, int root) {
    auto& ranks = levels<Net>::of(net);
    const places& where = net.layout();
    const int place = where.of(net.rank());
    const int home = where.of(root);
    const int target = chorale::rank_within_place(where, root);
    const bool is_root = net.rank() == root;
    const place_blocks by_place{where, block_layout::even(net.size(), mine.size())};
    const bool is_straight = is_root && by_place.are_straight();
    const bool holds_all = is_root || (ranks.leads() && place == home);
    const std::size_t held = holds_all ? by_place.total() : ranks.leads() ? by_place.bytes_of(place) : 0;
    const auto aside = chorale::scratch_of(net, is_straight ? 0 : held);
    const auto data = is_straight ? all.buffer().first(held) : aside.memory();
    if (ranks.leads()) {
      const blocks<std::byte> of_places{data, by_place.of_places()};
      const auto of_mine = holds_all ? of_places[place] : data;
      co_await In::run(ranks.inside(), now, mine, {of_mine, by_place.within(place)}, 0);
      call_id between = now;
      between.what = operation::gatherv;
      co_await Between::run(ranks.between(), between, of_mine, holds_all ? of_places : blocks<std::byte>{},
                            home);
    } else {
      co_await In::run(ranks.inside(), now, mine, {}, 0);
    }
    if (target != 0 && place == home) {
      if (ranks.leads()) co_await transfer::send(ranks.inside(), target, now, data);
      if (is_root) co_await transfer::receive(ranks.inside(), 0, now, data);
    }
    if (!is_root || is_straight) co_return;
    by_place.unpack(data, all, root);
    chorale::place_own(mine, all[root]);
  }
};

}  // namespace chorale::gather
