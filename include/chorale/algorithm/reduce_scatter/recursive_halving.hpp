// SPDX-License-Identifier: Apache-2.0
// Recursive halving reduce-scatter.
#pragma once

#include <cstddef>
#include <span>

#include <chorale/algorithm/evaluation.hpp>
#include <chorale/algorithm/reduce_exchange.hpp>
#include <chorale/algorithm/reduce_scatter/direct.hpp>
#include <chorale/algorithm/scratch.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/topology/arithmetic.hpp>

namespace chorale::reduce_scatter {

/// Partners at distances n/2, n/4, ..., 1 divide the blocks that they still hold: each sends the half that
/// contains its partner's block and combines the other half. Cost: log2 n steps, in all (n - 1)/n of the
/// message; memory for one operand. For short messages if n is a power of two.
///
/// Evaluates ranks r, r xor n/2, ... in a tree that is not in rank order, but the same for all elements of a
/// block. Operators that do not commute (`chorale::commutes`), uneven blocks and other n use `direct`.
struct recursive_halving {
  static constexpr auto implements = operation::reduce_scatter;
  static constexpr auto evaluates = evaluation::unordered;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, blocks<const std::byte> in, std::span<std::byte> out,
                    reduction op) {
    if (!op.commutes() || !in.layout().is_even() || !topology::is_power_of_two(net.size()))
      return direct::run(net, now, in, out, op);
    return halve(net, now, in, out, op);
  }

 private:
  template <mailbox_transport Net>
  static task<> halve(Net& net, call_id now, blocks<const std::byte> in, std::span<std::byte> out,
                      reduction op) {
    const auto all = in.buffer().first(in.layout().total());
    const auto work = chorale::scratch_of(net, all.size());
    chorale::move_bytes(work.memory(), all);
    const blocks<std::byte> held{work.memory(), in.layout()};
    int first = 0;
    for (int half = net.size() / 2; half >= 1; half /= 2) {
      const int peer = net.rank() ^ half;
      const bool lower = net.rank() < peer;
      const auto low = held.range(first, half);
      const auto high = held.range(first + half, half);
      co_await chorale::exchange_and_combine(net, now, peer, lower ? high : low, peer, lower ? low : high,
                                             !lower, op);
      if (!lower) first += half;
    }
    chorale::move_bytes(out, held[net.rank()]);
  }
};

}  // namespace chorale::reduce_scatter
