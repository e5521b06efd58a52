// SPDX-License-Identifier: Apache-2.0
// Recursive multiplying allreduce.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include <chorale/algorithm/scratch.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/chunks.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/topology/recursive_multiplying.hpp>

namespace chorale::allreduce {

/// As `recursive_doubling`, with groups of k ranks instead of pairs: in round m the leaders of k teams, k^m
/// teams apart, send each other their partial results, and each combines the k partial results from the
/// lowest rank's upwards. All evaluate in rank order and get the same bits. Cost: floor(log_k n) rounds of k
/// - 1 messages of the whole block, and two more steps if n is not a power of k; fewer rounds than up and
/// down a tree of degree k. For short messages, if a round costs more than a message. Source:
/// `topology::recursive_multiplying`.
///
/// The messages of a round are received in rank order, and each is released before the next.
template <int Factor>
requires(Factor >= 2) struct recursive_multiplying {
  static constexpr auto implements = operation::allreduce;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, std::span<std::byte> data, reduction op) {
    const topology::recursive_multiplying pattern{net.rank(), net.size(), Factor};
    const auto followers = pattern.followers();
    const std::size_t step = op.whole(net.block_bytes());
    const auto own = chorale::scratch_of(net, pattern.empty() ? 0 : std::min(data.size(), step));
    for (const auto mine : chunks{data, step}) {
      if (!pattern.is_leader()) {
        co_await net.send(pattern.leader(), now, mine);
        const auto result = co_await net.receive(pattern.leader(), now);
        transfer::place(net, pattern.leader(), now, result, mine);
        continue;
      }
      for (int r = followers.first; r < followers.first + followers.count; ++r) {
        const auto message = co_await net.receive(r, now);
        op.combine_left(mine, transfer::exact(net, r, now, message, mine.size()));
      }
      for (const auto round : pattern) {
        for (int j = 0; j < Factor; ++j)
          if (j != round.digit()) co_await net.send(round.leader(j), now, mine);
        const auto operand = own.memory().first(mine.size());
        if (round.digit() != 0) chorale::copy_bytes(operand.data(), mine.data(), mine.size());
        for (int j = 0; j < Factor; ++j) {
          if (j == round.digit()) {
            if (j != 0) op.combine_left(mine, operand);
            continue;
          }
          const auto message = co_await net.receive(round.leader(j), now);
          if (j == 0)
            transfer::place(net, round.leader(j), now, message, mine);
          else
            op.combine_left(mine, transfer::exact(net, round.leader(j), now, message, mine.size()));
        }
      }
      for (int r = followers.first; r < followers.first + followers.count; ++r)
        co_await net.send(r, now, mine);
    }
  }
};

}  // namespace chorale::allreduce
