// SPDX-License-Identifier: Apache-2.0
// Two-level reduce.
#pragma once

#include <cstddef>
#include <span>

#include <chorale/algorithm/levels.hpp>
#include <chorale/algorithm/reduce/degree_k.hpp>
#include <chorale/algorithm/scratch.hpp>
#include <chorale/algorithm/start.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::reduce {

/// Each place combines its operands by `In`, a reduce to its leader or an allreduce; the leaders combine the
/// results at the leader of the root's place by `Between`, and that leader hands the result to the root. Each
/// place sends one operand. The evaluation is in rank order if the ranks of each place are neighbours; if
/// they are not, `degree_k<1>` among all ranks serves operators that do not commute. Cost: `In` within a
/// place, a reduce among as many ranks as there are places, and a message within a place if the root does not
/// lead it. Any assignment of ranks to places. Source: Graham et al. 2011 (Cheetah).
template <class In, class Between>
struct two_level : of_levels<In, Between> {
  static_assert((In::implements == operation::reduce || In::implements == operation::allreduce) &&
                    Between::implements == operation::reduce,
                "reduce::two_level<In, Between> is composed of a reduce or an allreduce, and a reduce");
  static constexpr auto implements = operation::reduce;

  /// `in`: this rank's operand. `out`: the result at the root, may be `in`; elsewhere unused, may be empty.
  template <placed_transport Net>
  static task<> run(Net& net, call_id now, std::span<const std::byte> in, std::span<std::byte> out,
                    reduction op, int root) {
    if (!chorale::may_combine_by_places(net, op)) return degree_k<1>::run(net, now, in, out, op, root);
    return by_places(net, now, in, out, op, root);
  }

 private:
  template <placed_transport Net>
  static task<> by_places(Net& net, call_id now, std::span<const std::byte> in, std::span<std::byte> out,
                          reduction op, int root) {
    auto& ranks = levels<Net>::of(net);
    const placed_root to{net.layout(), net.rank(), root};
    constexpr bool all_get_it = In::implements == operation::allreduce;
    const auto aside = chorale::scratch_of(net, (all_get_it || ranks.leads()) && !to.is_me ? in.size() : 0);
    const auto combined = to.is_me ? out : aside.memory();
    if constexpr (all_get_it)
      co_await chorale::start<In>(ranks.inside(), now, in, combined, op);
    else
      co_await In::run(ranks.inside(), now, in, combined, op, 0);
    if (ranks.leads()) co_await Between::run(ranks.between(), now, combined, combined, op, to.place);
    if (!to.hands_over()) co_return;
    if (to.is_me)
      co_await transfer::receive(ranks.inside(), 0, now, out);
    else
      co_await transfer::send(ranks.inside(), to.number, now, combined);
  }
};

}  // namespace chorale::reduce
