// SPDX-License-Identifier: Apache-2.0
// Two-level scan.
#pragma once

#include <cstddef>
#include <span>

#include <chorale/algorithm/levels.hpp>
#include <chorale/algorithm/scan/recursive_doubling.hpp>
#include <chorale/algorithm/scratch.hpp>
#include <chorale/algorithm/start.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::scan {

/// The ranks of each place scan by `In`, and the last of them hands the total of the place to its leader,
/// except in the last place, whose total nobody needs. The leaders scan the totals by `Between`, and each
/// hands the combination of all places before its own to its place by `Out`, a broadcast, where all ranks
/// combine it with their results within the place. If the ranks of each place are not neighbours,
/// `recursive_doubling` runs among all ranks. Evaluates in rank order. Cost: `In`, a message and `Out` within
/// a place, and a scan among as many ranks as there are places; memory for one message. Any assignment of
/// ranks to places. Source: Graham et al. 2011 (Cheetah), for a scan.
template <class In, class Between, class Out>
struct two_level : of_levels<In, Between, Out> {
  static_assert(In::implements == operation::scan && Between::implements == operation::scan &&
                    Out::implements == operation::broadcast,
                "scan::two_level<In, Between, Out> is composed of two scans and a broadcast");
  static constexpr auto implements = operation::scan;

  /// `in`: this rank's operand. `out`: the result, of the same length, either `in` itself or not overlapping
  /// it: the combination of ranks 0 to this rank if `inclusive`, else of the ranks below this one.
  template <placed_transport Net>
  static task<> run(Net& net, call_id now, std::span<const std::byte> in, std::span<std::byte> out,
                    reduction op, bool inclusive) {
    if (!net.layout().are_contiguous())
      return chorale::start<recursive_doubling>(net, now, in, out, op, inclusive);
    return by_places(net, now, in, out, op, inclusive);
  }

 private:
  template <placed_transport Net>
  static task<> by_places(Net& net, call_id now, std::span<const std::byte> in, std::span<std::byte> out,
                          reduction op, bool inclusive) {
    auto& ranks = levels<Net>::of(net);
    auto& inside = ranks.inside();
    const int place = net.layout().of(net.rank());
    // The rank with what the leader brings to the scan of the places: the total of this place, or in the last
    // place, where it does not matter, the leader's own operand.
    const int giver = place + 1 < net.layout().count() ? inside.size() - 1 : 0;
    const auto aside = chorale::scratch_of(net, in.size());
    // What the leader brings, then the combination of the places before it.
    const auto combined = aside.memory();
    if (inside.rank() == giver && !inclusive) chorale::move_bytes(combined, in);
    co_await chorale::start<In>(inside, now, in, out, op, inclusive);
    if (inside.rank() == giver) {
      if (inclusive)
        chorale::move_bytes(combined, out);
      else if (giver != 0)
        op.combine_right(out, combined);
      if (giver != 0) co_await transfer::send(inside, 0, now, combined);
    } else if (ranks.leads()) {
      co_await transfer::receive(inside, giver, now, combined);
    }
    if (ranks.leads())
      co_await chorale::start<Between>(ranks.between(), now, std::span<const std::byte>{combined}, combined,
                                       op, false);
    if (place == 0) co_return;
    co_await Out::run(inside, now.later(1), combined, 0);
    if (inclusive || inside.rank() != 0)
      op.combine_right(combined, out);
    else
      chorale::move_bytes(out, combined);
  }
};

}  // namespace chorale::scan
