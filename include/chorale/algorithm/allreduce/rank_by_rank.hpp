// SPDX-License-Identifier: Apache-2.0
// Allreduce for elements that do not fit into a block.
#pragma once

#include <cstddef>
#include <span>

#include <chorale/algorithm/broadcast/binomial.hpp>
#include <chorale/algorithm/evaluation.hpp>
#include <chorale/algorithm/scratch.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::allreduce {

/// The ranks broadcast their operands in turn, and all ranks combine them, in rank order. Elements may be of
/// any size, since a broadcast may split them anywhere. Cost: n broadcasts; memory for two operands.
struct rank_by_rank {
  static constexpr auto implements = operation::allreduce;
  static constexpr auto evaluates = evaluation::serial;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, std::span<std::byte> mine, reduction op) {
    const auto combined = chorale::scratch_of(net, mine.size());
    const auto received = chorale::scratch_of(net, mine.size());
    const auto result = combined.memory();
    const auto operand = received.memory();
    for (int rank = 0; rank < net.size(); ++rank) {
      if (rank == net.rank()) chorale::move_bytes(operand, mine);
      co_await broadcast::binomial::run(net, now, operand, rank);
      if (rank == 0)
        chorale::move_bytes(result, operand);
      else
        op.combine_left(result, operand);
    }
    chorale::move_bytes(mine, result);
  }
};

}  // namespace chorale::allreduce
