// SPDX-License-Identifier: Apache-2.0
// Allgather of two levels.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <chorale/algorithm/levels.hpp>
#include <chorale/algorithm/scratch.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/places.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::allgather {

/// Each place gathers its blocks at its leader by `In`, the leaders exchange the blocks of whole places by
/// `Between`, and each sends all of them to its place by `Out`, a broadcast. Each place gets each block once.
/// Even and uneven blocks. If the ranks of a place are not neighbours, or blocks have gaps, they travel in
/// the order of places, and each rank copies them to where it wants them. Cost: a gather and a broadcast of
/// everything within a place, and an allgather among as many ranks as there are places. Any places.
template <class In, class Between, class Out>
struct two_level {
  static_assert(In::implements == operation::gather && Between::implements == operation::allgather &&
                    Out::implements == operation::broadcast,
                "allgather::two_level<In, Between, Out> is composed of a gather, an allgather and a "
                "broadcast");
  static_assert(In::uneven && Between::uneven,
                "allgather::two_level<In, Between, Out> needs algorithms for uneven blocks, since places "
                "may differ in size");
  static constexpr auto implements = operation::allgather;
  static constexpr bool uneven = true;
  template <class Net>
  static constexpr bool runs_on = run_on_levels<Net, In, Between, Out>;
  template <class Net>
  static bool suits(const Net& net) noexcept {
    return chorale::has_two_levels(net);
  }

  template <placed_transport Net>
  static task<> run(Net& net, call_id now, blocks<std::byte> all) {
    auto& ranks = levels<Net>::of(net);
    const places& where = net.layout();
    const block_layout& each = all.layout();
    const bool is_straight = where.are_contiguous() && each.is_packed();
    const auto aside = chorale::scratch_of(net, is_straight ? 0 : each.total());
    const auto data = is_straight ? all.buffer().first(each.total()) : aside.memory();
    const auto mine = all[net.rank()];
    // The ranks of a gather know each other's sizes only if these are all the same.
    call_id gathering = now;
    if (!each.is_even()) gathering.what = operation::gatherv;
    if (ranks.leads()) {
      const int place = where.of(net.rank());
      const blocks<std::byte> of_places{data, whole_places(where, each)};
      co_await In::run(ranks.inside(), gathering, mine, {of_places[place], within(where, place, each)}, 0);
      co_await Between::run(ranks.between(), now, of_places);
    } else {
      co_await In::run(ranks.inside(), gathering, mine, {}, 0);
    }
    co_await Out::run(ranks.inside(), now.later(1), data, 0);
    if (is_straight) co_return;
    std::size_t at = 0;
    for (const int rank : where.order()) {
      const auto to = all[rank];
      if (rank != net.rank() && !to.empty()) chorale::copy_bytes(to.data(), data.data() + at, to.size());
      at += to.size();
    }
  }

 private:
  /// A block for each place, with the blocks of its ranks.
  static block_layout whole_places(const places& where, const block_layout& each) {
    std::vector<extent> whole;
    std::size_t end = 0;
    for (int place = 0; place < where.count(); ++place) {
      const std::size_t begin = end;
      for (const int rank : where.members(place)) end += each[rank].bytes;
      whole.push_back({begin, end - begin});
    }
    return block_layout::uneven(std::move(whole));
  }
  /// The blocks of the ranks of a place, behind each other.
  static block_layout within(const places& where, int place, const block_layout& each) {
    const auto members = where.members(place);
    if (each.is_even()) return block_layout::even(static_cast<int>(members.size()), each.largest());
    std::vector<extent> packed;
    std::size_t end = 0;
    for (const int rank : members) {
      packed.push_back({end, each[rank].bytes});
      end += each[rank].bytes;
    }
    return block_layout::uneven(std::move(packed));
  }
};

}  // namespace chorale::allgather
