// SPDX-License-Identifier: Apache-2.0
// Rabenseifner's allreduce.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include <chorale/algorithm/evaluation.hpp>
#include <chorale/algorithm/reduce_exchange.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/topology/recursive_doubling.hpp>

namespace chorale::allreduce {

/// A reduce-scatter by recursive halving, then an allgather by recursive doubling. Partners at distances 1,
/// 2, 4, ... divide the elements that they hold: each sends one half and combines the other. Then, in reverse
/// order, each receives the half that it sent away. If n is not a power of two, neighbours fold first and
/// unfold at the end.
///
/// Partners hold the operands of neighbouring ranges of ranks, so the evaluation is in rank order; each
/// element is combined in the same tree as by `recursive_doubling`, with the same bits. Cost: 2 log2 n steps,
/// in all twice the message in each direction; the second half is zero copy. For long messages.
struct rabenseifner {
  static constexpr auto implements = operation::allreduce;
  static constexpr auto evaluates = evaluation::doubling;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, std::span<std::byte> data, reduction op) {
    using kind = topology::recursive_doubling::kind;
    struct halving {
      int peer;
      std::span<std::byte> kept;
      std::span<std::byte> given;
    };
    std::array<halving, 32> steps{};
    std::size_t count = 0;
    std::span<std::byte> held = data;
    const topology::recursive_doubling pattern{net.rank(), net.size()};
    int result_to = -1;
    for (const auto step : pattern) {
      switch (step.kind) {
        case kind::send_operand:
          co_await chorale::exchange_and_combine(net, now, step.peer, data, step.peer, data.first(0), false,
                                                 op);
          break;
        case kind::receive_operand:
          co_await chorale::exchange_and_combine(net, now, step.peer, data.first(0), step.peer, data,
                                                 step.peer_is_left(), op);
          break;
        case kind::exchange: {
          const std::size_t elements = held.size() / op.element_bytes();
          const auto low = held.first(elements / 2 * op.element_bytes());
          const auto high = held.subspan(low.size());
          // The lower of two partners keeps the lower half.
          const bool keeps_low = !step.peer_is_left();
          const halving h{step.peer, keeps_low ? low : high, keeps_low ? high : low};
          co_await chorale::exchange_and_combine(net, now, h.peer, h.given, h.peer, h.kept,
                                                 step.peer_is_left(), op);
          held = h.kept;
          steps[count++] = h;
          break;
        }
        case kind::send_result:
          result_to = step.peer;
          break;
        case kind::receive_result:
          co_await transfer::receive(net, step.peer, now, data);
          co_return;
      }
    }
    while (count > 0) {
      const halving& h = steps[--count];
      co_await transfer::exchange(net, now, h.peer, h.kept, h.peer, h.given);
    }
    if (result_to >= 0) co_await transfer::send(net, result_to, now, data);
  }
};

}  // namespace chorale::allreduce
