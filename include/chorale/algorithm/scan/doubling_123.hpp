// Scan by doubling with the distances 1, 2, 3, 6, 12, ...
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/topology/doubling_123.hpp>

namespace chorale::scan {

/// An exclusive scan in which a rank combines once a round, where `recursive_doubling` combines twice: what
/// it sends is what it has gathered for itself. An inclusive one adds the rank's own operand at the end.
/// Evaluates in rank order, any n. Cost: ceil(log2(n - 1) + log2(4/3)) steps of the whole message; three
/// times its memory. Best for exclusive scans with a costly operator.
/// Source: `topology::doubling_123`.
struct doubling_123 {
  static constexpr auto implements = operation::scan;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  /// `data`: this rank's operand, then the result: of ranks 0 to rank if `inclusive`, else of those below.
  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, std::span<std::byte> data, reduction op, bool inclusive) {
    std::vector<std::byte> gathered(data.size());
    std::vector<std::byte> arrived(data.size());
    std::vector<std::byte> both;
    for (const auto round : topology::doubling_123{net.rank(), net.size()}) {
      // The first round sends the rank's own operand, the second that with what was gathered.
      std::span<const std::byte> out = round.index == 0 ? std::span<const std::byte>{data} : gathered;
      if (round.index == 1 && round.to >= 0) {
        assign_bytes(both, data);
        if (net.rank() != 0 && !data.empty()) op.combine_right(gathered, both);
        out = both;
      }
      if (round.to < 0) out = {};
      const std::span<std::byte> in{arrived.data(), round.from < 0 ? 0 : arrived.size()};
      co_await transfer::exchange(net, now, round.to, out, round.from, in);
      if (in.empty()) continue;
      if (round.index == 0)
        gathered.swap(arrived);
      else
        op.combine_right(arrived, gathered);
    }
    if (net.rank() == 0 || data.empty()) co_return;
    if (inclusive)
      op.combine_right(gathered, data);
    else
      copy_bytes(data.data(), gathered.data(), data.size());
  }
};

}  // namespace chorale::scan
