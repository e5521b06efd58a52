// SPDX-License-Identifier: Apache-2.0
// Recursive doubling allreduce.
#pragma once

#include <cstddef>
#include <span>

#include <chorale/algorithm/evaluation.hpp>
#include <chorale/algorithm/reduce_exchange.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/chunks.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/topology/recursive_doubling.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::allreduce {

/// Partners at distances 1, 2, 4, ... exchange their partial results, and both combine them, lower ranks on
/// the left. If n is not a power of two, neighbours fold first and unfold at the end, so that a partial
/// result always covers a contiguous range of ranks: the evaluation is in rank order, and all ranks get the
/// same bits. Cost: log2 n steps of the whole block, floor(log2 n) + 2 if n is not a power of two. Best for
/// short messages.
struct recursive_doubling {
  static constexpr auto implements = operation::allreduce;
  static constexpr auto evaluates = evaluation::doubling;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, std::span<std::byte> data, reduction op) {
    using kind = topology::recursive_doubling::kind;
    if constexpr (message_transport<Net>) {
      if (chorale::is_whole_operand(net, data.size(), op)) {
        co_await by_messages(net, now, data, op);
        co_return;
      }
    }
    for (const auto mine : chunks{data, op.whole(net.block_bytes())}) {
      for (const auto step : topology::recursive_doubling{net.rank(), net.size()}) {
        const bool sends =
            step.kind == kind::send_operand || step.kind == kind::exchange || step.kind == kind::send_result;
        if (sends) co_await net.send(step.peer, now, mine);
        if (step.kind == kind::exchange || step.kind == kind::receive_operand) {
          const auto message = co_await net.receive(step.peer, now);
          const auto theirs = transfer::exact(net, step.peer, now, message, mine.size());
          if (step.peer_is_left())
            op.combine_right(theirs, mine);
          else
            op.combine_left(mine, theirs);
        } else if (step.kind == kind::receive_result) {
          const auto result = co_await net.receive(step.peer, now);
          transfer::place(net, step.peer, now, result, mine);
        }
      }
    }
  }

 private:
  /// `op` must outlive the coroutine.
  template <message_transport Net>
  static task<> by_messages(Net& net, call_id now, std::span<std::byte> data, const reduction& op) {
    using kind = topology::recursive_doubling::kind;
    for (const auto step : topology::recursive_doubling{net.rank(), net.size()}) {
      if (step.kind == kind::receive_result) {
        co_await transfer::receive(net, step.peer, now, data);
      } else {
        const bool sends = step.kind != kind::receive_operand;
        const bool takes = step.kind == kind::exchange || step.kind == kind::receive_operand;
        co_await chorale::exchange_and_combine(net, now, step.peer, sends ? data : data.first(0), step.peer,
                                               takes ? data : data.first(0), step.peer_is_left(), op);
      }
    }
  }
};

}  // namespace chorale::allreduce
