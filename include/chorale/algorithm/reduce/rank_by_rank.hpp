// SPDX-License-Identifier: Apache-2.0
// Reduce for elements that do not fit into a block.
#pragma once

#include <cstddef>
#include <span>

#include <chorale/algorithm/allreduce/rank_by_rank.hpp>
#include <chorale/algorithm/evaluation.hpp>
#include <chorale/algorithm/scratch.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::reduce {

/// As `allreduce::rank_by_rank`, but only the root takes the result. In rank order. Cost: n broadcasts;
/// memory for three operands.
struct rank_by_rank {
  static constexpr auto implements = operation::reduce;
  static constexpr auto evaluates = evaluation::serial;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, std::span<const std::byte> in, std::span<std::byte> out,
                    reduction op, int root) {
    const auto held = chorale::scratch_of(net, in.size());
    const auto work = held.memory();
    chorale::move_bytes(work, in);
    co_await allreduce::rank_by_rank::run(net, now, work, op);
    if (net.rank() == root) chorale::move_bytes(out, work);
  }
};

}  // namespace chorale::reduce
