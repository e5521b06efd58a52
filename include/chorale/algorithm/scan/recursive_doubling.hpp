// SPDX-License-Identifier: Apache-2.0
// Recursive doubling scan.
#pragma once

#include <cstddef>
#include <span>

#include <chorale/algorithm/scratch.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/reduction.hpp>

namespace chorale::scan {

/// In step m a rank sends the combination of the 2^m ranks up to and including itself to rank + 2^m, and
/// combines the data from rank - 2^m on the left of its own. Evaluates in rank order, any n, elements of any
/// size. Cost: ceil(log2 n) steps of the whole message; memory for two messages.
struct recursive_doubling {
  static constexpr auto implements = operation::scan;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  /// `data`: this rank's operand, replaced by the result: the combination of ranks 0 to this rank if
  /// `inclusive`, else of the ranks below this one.
  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, std::span<std::byte> data, reduction op, bool inclusive) {
    const auto sent = chorale::scratch_of(net, data.size());
    const auto received = chorale::scratch_of(net, data.size());
    const auto held = sent.memory();
    const auto left = received.memory();
    chorale::move_bytes(held, data);
    bool has_result = inclusive;
    for (int distance = 1; distance < net.size(); distance *= 2) {
      const bool sends = net.rank() + distance < net.size();
      const bool receives = net.rank() >= distance;
      const std::span<const std::byte> out{held.data(), sends ? held.size() : 0};
      const std::span<std::byte> in{left.data(), receives ? left.size() : 0};
      co_await transfer::exchange(net, now, net.rank() + distance, out, net.rank() - distance, in);
      if (!receives) continue;
      op.combine_right(left, held);
      if (has_result)
        op.combine_right(left, data);
      else
        chorale::move_bytes(data, left);
      has_result = true;
    }
  }
};

}  // namespace chorale::scan
