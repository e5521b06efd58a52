// SPDX-License-Identifier: Apache-2.0
// Bruck's allgather.
#pragma once

#include <vector>

#include <chorale/algorithm/allgather/within.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/topology/bruck.hpp>

namespace chorale::allgather {

/// In round m a rank sends the 2^m blocks that it holds, its own and the following ones, to rank - 2^m.
/// Blocks are received directly in their final places: a run of blocks wraps around from the last rank's
/// block to the first, so no final rotation is needed. Even blocks; long runs are zero copy. Cost: ceil(log2
/// n) rounds for any n, n - 1 blocks. Best for short messages. Source: P4 section 2.3 (Bruck).
///
/// A block that is sent is never written again in this call; puts are announced and flushed as in
/// `recursive_doubling`.
struct bruck {
  static constexpr auto implements = operation::allgather;
  static constexpr bool uneven = false;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, blocks<std::byte> all) {
    std::vector<within::step> steps;
    for (const auto round : topology::bruck_allgather{net.rank(), net.size()})
      steps.push_back({round.to, {net.rank(), round.blocks}, round.from, {round.from, round.blocks}});
    co_await within::run(net, now, all, steps, 0);
  }
};

}  // namespace chorale::allgather
