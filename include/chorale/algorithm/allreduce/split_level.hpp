// SPDX-License-Identifier: Apache-2.0
// Two-level allreduce for long messages.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <chorale/algorithm/allreduce/recursive_doubling.hpp>
#include <chorale/algorithm/even_shares.hpp>
#include <chorale/algorithm/levels.hpp>
#include <chorale/algorithm/scratch.hpp>
#include <chorale/algorithm/start.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/cache_lines.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::allreduce {

/// Each place combines its operands by `In`, a reduce-scatter, so that each of its ranks has a share; the
/// ranks of all places with the same share combine theirs by `Between`, an allreduce, all shares at the same
/// time; and each place collects the shares by `Out`, an allgather. There are as many shares as the smallest
/// place has ranks; further ranks of a place have none. All ranks of a host use its adapter, and each byte of
/// the result enters a host by one allreduce. The evaluation is in rank order if the ranks of each place are
/// neighbours; if they are not, `recursive_doubling` among all ranks serves operators that do not commute.
/// Cost: a reduce-scatter and an allgather of everything within a place, and an allreduce of a share among as
/// many ranks as there are places. Any assignment of ranks to places. Source: Bayatpour et al. 2017
/// (multi-leader allreduce).
template <class In, class Between, class Out>
struct split_level : of_levels<In, Between, Out> {
  static_assert(
      In::implements == operation::reduce_scatter && Between::implements == operation::allreduce &&
          Out::implements == operation::allgather,
      "allreduce::split_level<In, Between, Out> is composed of a reduce-scatter, an allreduce and an "
      "allgather");
  static_assert(Out::uneven,
                "allreduce::split_level<In, Between, Out>: Out collects shares of different sizes");
  static constexpr auto implements = operation::allreduce;

  /// `in`: this rank's operand; `out`: the result, of the same length, either `in` itself or not overlapping
  /// it.
  template <placed_transport Net>
  static task<> run(Net& net, call_id now, std::span<const std::byte> in, std::span<std::byte> out,
                    reduction op) {
    if (!chorale::may_combine_by_places(net, op))
      return chorale::start<recursive_doubling>(net, now, in, out, op);
    return by_shares(net, now, in, out, op);
  }

 private:
  template <placed_transport Net>
  static task<> by_shares(Net& net, call_id now, std::span<const std::byte> in, std::span<std::byte> out,
                          reduction op) {
    auto& ranks = levels<Net>::of(net);
    auto& inside = ranks.inside();
    const block_layout shares = shares_of(inside.size(), ranks.columns(), in.size(), op);
    const auto mine = blocks<std::byte>{out, shares}[inside.rank()];
    // `In` may read its operand until it ends, and the operand may be in `out`.
    const auto aside = chorale::scratch_of(net, mine.size());
    co_await In::run(inside, now, {in, shares}, aside.memory(), op);
    if (inside.rank() < ranks.columns()) {
      const std::span<const std::byte> combined = aside.memory();
      co_await chorale::start<Between>(ranks.between(), now, combined, mine, op);
    }
    co_await Out::run(inside, now.later(1), {out, shares});
  }
  /// A share for each of the first `columns` ranks of a place, in whole elements, and none for the others.
  static block_layout shares_of(int ranks, int columns, std::size_t bytes, const reduction& op) {
    const block_layout shares = chorale::even_shares(columns, bytes, op.whole(cache_line_spacing));
    std::vector<extent> all(static_cast<std::size_t>(ranks), extent{bytes, 0});
    for (int column = 0; column < columns; ++column) all[static_cast<std::size_t>(column)] = shares[column];
    return block_layout::uneven(std::move(all));
  }
};

}  // namespace chorale::allreduce
