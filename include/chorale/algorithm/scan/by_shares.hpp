// SPDX-License-Identifier: Apache-2.0
// Scan by shares: each rank scans a share of the elements for all ranks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include <chorale/algorithm/evaluation.hpp>
#include <chorale/algorithm/even_shares.hpp>
#include <chorale/algorithm/operands_of_all.hpp>
#include <chorale/algorithm/read_operands.hpp>
#include <chorale/algorithm/scan/chain.hpp>
#include <chorale/algorithm/start.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::scan {

/// Each rank reads its share of the elements from all operands in place, from rank 0 upwards and piece by
/// piece, and writes the pieces of each rank's result into that rank's memory. All ranks combine in parallel,
/// and none waits for the rank before it. Same bits as a serial loop over the ranks. Any n. For long messages
/// on few ranks that read each other's memory and have a core each; otherwise, and for short messages,
/// `chain` is used. Cost per rank: (n - 1)/n of the message in and as much out, two messages to every other
/// rank; nothing is written to rank 0.
///
/// Only its owner reads and writes the elements of a share, and the call ends when all ranks have told each
/// other that they have finished.
struct by_shares {
  static constexpr auto implements = operation::scan;
  static constexpr auto evaluates = evaluation::serial;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;
  template <mailbox_transport Net>
  static bool suits(const Net& net) noexcept {
    return chorale::all_combine_at_once(net);
  }

  /// `in`: this rank's operand. `out`: the result, of the same length, either `in` itself or not overlapping
  /// it: the combination of ranks 0 to this rank if `inclusive`, else of the ranks below this one.
  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, std::span<const std::byte> in, std::span<std::byte> out,
                    reduction op, bool inclusive) {
    if constexpr (reads_operands<Net>) {
      if (net.size() > 1 && chorale::is_read(net, in.size()))
        return by_reads(net, now, in, out, std::move(op), inclusive);
    }
    return chorale::start<chain>(net, now, in, out, op, inclusive);
  }

 private:
  template <reads_operands Net>
  static task<> by_reads(Net& net, call_id now, std::span<const std::byte> in, std::span<std::byte> out,
                         reduction op, bool inclusive) {
    const std::size_t most = operands_of_all<Net>::piece_bytes(op, in.size());
    operands_of_all<Net> all{net, now, in, out, most};
    in = all.operand();
    out = all.result();
    co_await all.announce();
    co_await all.find();
    // The result of rank 0 is its operand; no rank writes to rank 0.
    if (net.rank() == 0) place_own(in, out);
    // With two ranks only rank 0 has to write.
    const std::size_t unit = operands_of_all<Net>::granule_bytes(op);
    const extent mine = net.size() == 2 ? chorale::share_for_owner(1, net.rank(), 2, in.size(), unit)
                                        : chorale::even_shares(net.size(), in.size(), unit)[net.rank()];
    for (std::size_t done = 0; done < mine.bytes; done += most) {
      const std::size_t at = mine.offset + done;
      const auto own = out.subspan(at, std::min(most, mine.bytes - done));
      if (net.rank() != 0) place_own(in.subspan(at, own.size()), own);
      co_await scan_piece(net, all, own, at, op, inclusive);
    }
    co_await all.finish();
  }

  /// `own`: this rank's operand from byte `at` on, to be replaced by the result. `op` must outlive the
  /// coroutine.
  template <reads_operands Net>
  static task<> scan_piece(Net& net, operands_of_all<Net>& all, std::span<std::byte> own, std::size_t at,
                           const reduction& op, bool inclusive) {
    // The combination of all lower ranks: in `own`, or in one buffer while the next operand is read into the
    // other.
    std::span<const std::byte> below;
    for (int rank = 0; rank < net.size(); ++rank) {
      const bool is_own = rank == net.rank();
      if (is_own && (inclusive || rank == 0)) {
        if (rank != 0) op.combine_right(below, own);
        below = own;
        continue;
      }
      const auto next = all.place(rank % 2, own.size());
      // An exclusive scan does not need the operand of the last rank.
      const bool is_needed = inclusive || rank + 1 < net.size();
      if (is_needed && is_own)
        chorale::copy_bytes(next.data(), own.data(), own.size());
      else if (is_needed)
        co_await all.read(rank, at, next);
      if (is_needed && rank != 0) op.combine_right(below, next);
      const std::span<const std::byte> result = inclusive ? next : below;
      if (is_own)
        copy_bytes(own.data(), result.data(), own.size());
      else if (rank != 0)
        co_await all.write(rank, at, result);
      below = next;
    }
  }
};

}  // namespace chorale::scan
