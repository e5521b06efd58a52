// SPDX-License-Identifier: Apache-2.0
// Scatter-gather reduce.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include <chorale/algorithm/evaluation.hpp>
#include <chorale/algorithm/even_shares.hpp>
#include <chorale/algorithm/operands_of_all.hpp>
#include <chorale/algorithm/read_operands.hpp>
#include <chorale/algorithm/reduce_scatter/direct.hpp>
#include <chorale/algorithm/scratch.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::reduce {

/// A reduce-scatter, then a gather: each rank combines a share of the elements from rank 0 upwards, with the
/// same bits as a serial loop, and the root gets the shares. For long messages on ranks that have a core
/// each: all ranks combine in parallel, whereas in a tree the root combines as many operands as it has
/// children. Any n. Source: Rabenseifner, Optimization of collective reduction operations, 2004.
///
/// Where operands are read, each rank reads its share of all operands in place, piece by piece, and writes
/// the pieces of the result into the root's memory; the root has a larger share, since it need not write.
/// Elsewhere `reduce_scatter::direct` computes the shares. Cost per rank: (n - 1)/n of the message in and 1/n
/// out; two messages from each rank to every other, or one per block.
struct scatter_gather {
  static constexpr auto implements = operation::reduce;
  static constexpr auto evaluates = evaluation::serial;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;
  template <mailbox_transport Net>
  static bool suits(const Net& net) noexcept {
    return chorale::all_combine_at_once(net);
  }

  /// `in`: this rank's operand. `out`: the result at the root, may be `in`; elsewhere unused, may be empty.
  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, std::span<const std::byte> in, std::span<std::byte> out,
                    reduction op, int root) {
    if constexpr (reads_operands<Net>) {
      if (net.size() > 1 && chorale::is_read(net, in.size()))
        return by_reads(net, now, in, out, std::move(op), root);
    }
    return by_messages(net, now, in, out, std::move(op), root);
  }

 private:
  template <mailbox_transport Net>
  static task<> by_messages(Net& net, call_id now, std::span<const std::byte> in, std::span<std::byte> out,
                            reduction op, int root) {
    const auto layout = chorale::even_shares(net.size(), in.size(), op.element_bytes());
    const auto held = chorale::scratch_of(net, layout[net.rank()].bytes);
    const auto share = held.memory();
    co_await reduce_scatter::direct::run(net, now, blocks<const std::byte>{in, layout}, share, op);
    if (net.rank() != root) {
      co_await transfer::send(net, root, now, share);
      co_return;
    }
    const blocks<std::byte> result{out, layout};
    if (!share.empty()) chorale::copy_bytes(result[root].data(), share.data(), share.size());
    for (int d = 1; d < net.size(); ++d) {
      const int from = (root + d) % net.size();
      co_await transfer::receive(net, from, now, result[from]);
    }
  }

  template <reads_operands Net>
  static task<> by_reads(Net& net, call_id now, std::span<const std::byte> in, std::span<std::byte> out,
                         reduction op, int root) {
    const std::size_t most = operands_of_all<Net>::piece_bytes(op, in.size());
    const bool is_root = net.rank() == root;
    operands_of_all<Net> all{net, now, in, out.first(is_root ? in.size() : 0), most};
    in = all.operand();
    const auto result = all.result();
    co_await all.announce();
    co_await all.find(root);
    // The root combines its share directly in the result, unless its operand is there.
    const bool collects_there = is_root && in.data() != result.data();
    const extent mine = chorale::share_for_owner(root, net.rank(), net.size(), in.size(),
                                                 operands_of_all<Net>::granule_bytes(op));
    for (std::size_t done = 0; done < mine.bytes; done += most) {
      const std::size_t at = mine.offset + done;
      const std::size_t bytes = std::min(most, mine.bytes - done);
      const auto combined = collects_there ? result.subspan(at, bytes) : all.place(0, bytes);
      co_await all.combine(at, combined, op);
      if (!is_root)
        co_await all.write(root, at, combined);
      else if (!collects_there)
        chorale::copy_bytes(result.data() + at, combined.data(), combined.size());
    }
    co_await all.finish();
  }
};

}  // namespace chorale::reduce
