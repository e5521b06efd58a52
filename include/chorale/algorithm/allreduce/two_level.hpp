// SPDX-License-Identifier: Apache-2.0
// Two-level allreduce.
#pragma once

#include <cstddef>
#include <span>

#include <chorale/algorithm/allreduce/recursive_doubling.hpp>
#include <chorale/algorithm/levels.hpp>
#include <chorale/algorithm/start.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::allreduce {

/// Each place combines its operands by `In`, a reduce or an allreduce; the leaders of all places combine the
/// results by `Between`, an allreduce; and each hands the result to its place by `Out`, a broadcast, so that
/// all ranks get the same bits. The evaluation is in rank order if the ranks of each place are neighbours; if
/// they are not, `recursive_doubling` among all ranks serves operators that do not commute. Cost: `In` and
/// `Out` within a place, and an allreduce among as many ranks as there are places. Any assignment of ranks to
/// places. Source: Graham et al. 2011 (Cheetah).
template <class In, class Between, class Out>
struct two_level : of_levels<In, Between, Out> {
  static_assert((In::implements == operation::reduce || In::implements == operation::allreduce) &&
                    Between::implements == operation::allreduce && Out::implements == operation::broadcast,
                "allreduce::two_level<In, Between, Out> is composed of a reduce or an allreduce, an "
                "allreduce and a broadcast");
  static constexpr auto implements = operation::allreduce;

  /// `in`: this rank's operand; `out`: the result, of the same length, either `in` itself or not overlapping
  /// it.
  template <placed_transport Net>
  static task<> run(Net& net, call_id now, std::span<const std::byte> in, std::span<std::byte> out,
                    reduction op) {
    if (!chorale::may_combine_by_places(net, op))
      return chorale::start<recursive_doubling>(net, now, in, out, op);
    return by_places(net, now, in, out, op);
  }

 private:
  template <placed_transport Net>
  static task<> by_places(Net& net, call_id now, std::span<const std::byte> in, std::span<std::byte> out,
                          reduction op) {
    auto& ranks = levels<Net>::of(net);
    auto& inside = ranks.inside();
    if constexpr (In::implements == operation::reduce)
      co_await In::run(inside, now, in, out, op, 0);
    else
      co_await chorale::start<In>(inside, now, in, out, op);
    const std::span<const std::byte> combined = out;
    if (ranks.leads()) co_await chorale::start<Between>(ranks.between(), now, combined, out, op);
    co_await Out::run(inside, now.later(1), out, 0);
  }
};

}  // namespace chorale::allreduce
