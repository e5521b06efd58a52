// SPDX-License-Identifier: Apache-2.0
// Reduce-scatter for elements that do not fit into a block.
#pragma once

#include <cstddef>
#include <span>

#include <chorale/algorithm/allreduce/rank_by_rank.hpp>
#include <chorale/algorithm/evaluation.hpp>
#include <chorale/algorithm/scratch.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::reduce_scatter {

/// As `allreduce::rank_by_rank` of all blocks, but each rank takes only its own block. In rank order. Even
/// and uneven blocks. Cost: n broadcasts; memory for three operands.
struct rank_by_rank {
  static constexpr auto implements = operation::reduce_scatter;
  static constexpr auto evaluates = evaluation::serial;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, blocks<const std::byte> in, std::span<std::byte> out,
                    reduction op) {
    const auto all = in.buffer().first(in.layout().end());
    const auto held = chorale::scratch_of(net, all.size());
    const auto work = held.memory();
    chorale::move_bytes(work, all);
    co_await allreduce::rank_by_rank::run(net, now, work, op);
    chorale::move_bytes(out, blocks<const std::byte>{work, in.layout()}[net.rank()]);
  }
};

}  // namespace chorale::reduce_scatter
