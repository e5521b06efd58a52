// SPDX-License-Identifier: Apache-2.0
// Two-level reduce-scatter.
#pragma once

#include <cstddef>
#include <span>

#include <chorale/algorithm/levels.hpp>
#include <chorale/algorithm/place_blocks.hpp>
#include <chorale/algorithm/reduce_scatter/direct.hpp>
#include <chorale/algorithm/scratch.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::reduce_scatter {

/// Each place combines its ranks' operands for all blocks at its leader by `In`, a reduce; the leaders
/// combine the results by `Between`, a reduce-scatter of whole places; and each scatters the blocks of its
/// place by `Out`. Even and uneven blocks. The evaluation is in rank order if the ranks of each place are
/// neighbours; if they are not, `direct` among all ranks serves operators that do not commute. Cost: a reduce
/// and a scatter within a place, and a reduce-scatter among as many ranks as there are places. Any assignment
/// of ranks to places.
template <class In, class Between, class Out>
struct two_level : of_levels<In, Between, Out> {
  static_assert(In::implements == operation::reduce && Between::implements == operation::reduce_scatter &&
                    Out::implements == operation::scatter,
                "reduce_scatter::two_level<In, Between, Out> is composed of a reduce, a reduce-scatter and a "
                "scatter");
  static_assert(Out::uneven, "reduce_scatter::two_level<In, Between, Out>: Out scatters uneven blocks");
  static constexpr auto implements = operation::reduce_scatter;

  template <placed_transport Net>
  static task<> run(Net& net, call_id now, blocks<const std::byte> in, std::span<std::byte> out,
                    reduction op) {
    if (!chorale::may_combine_by_places(net, op)) return direct::run(net, now, in, out, op);
    return by_places(net, now, in, out, op);
  }

 private:
  template <placed_transport Net>
  static task<> by_places(Net& net, call_id now, blocks<const std::byte> in, std::span<std::byte> out,
                          reduction op) {
    auto& ranks = levels<Net>::of(net);
    const int place = net.layout().of(net.rank());
    const place_blocks by_place{net.layout(), in.layout()};
    const bool is_straight = by_place.are_straight();
    const auto packed = chorale::scratch_of(net, is_straight ? 0 : by_place.total());
    if (!is_straight) by_place.pack(in, packed.memory());
    std::span<const std::byte> operand = packed.memory();
    if (is_straight) operand = in.buffer().first(by_place.total());
    const auto combined = chorale::scratch_of(net, ranks.leads() ? by_place.total() : 0);
    co_await In::run(ranks.inside(), now, operand, combined.memory(), op, 0);
    const call_id scattering = in.layout().is_even() ? now.later(1) : now.later(1).with_private_sizes();
    if (!ranks.leads()) {
      co_await Out::run(ranks.inside(), scattering, {}, out, 0);
      co_return;
    }
    const auto result = chorale::scratch_of(net, by_place.bytes_of(place));
    co_await Between::run(ranks.between(), now, {combined.memory(), by_place.of_places()}, result.memory(),
                          op);
    co_await Out::run(ranks.inside(), scattering, {result.memory(), by_place.within(place)}, out, 0);
  }
};

}  // namespace chorale::reduce_scatter
