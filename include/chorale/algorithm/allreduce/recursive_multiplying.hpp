// Recursive multiplying allreduce.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/chunks.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/topology/recursive_multiplying.hpp>

namespace chorale::allreduce {

/// As `recursive_doubling`, with k ranks instead of two: in each round k leaders at distances 1, k, k^2, ...
/// teams of neighbours send what they hold to each other, and each combines the k operands from the lowest
/// rank's on. All evaluate in the same order, that of the ranks, and get the same bits. Cost: floor(log_k n)
/// rounds of k - 1 messages of the whole block, and two steps more where n is no power of k: fewer rounds
/// than up and down a tree of degree k. For short messages where a round costs more than a message.
/// Source: `topology::recursive_multiplying`.
///
/// A block's messages of one round are received in the order of the ranks, and given back one by one.
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
    std::vector<std::byte> own(pattern.empty() ? 0 : std::min(data.size(), step));
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
        const auto operand = std::span{own}.first(mine.size());
        if (round.digit() != 0) copy_bytes(operand.data(), mine.data(), mine.size());
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
