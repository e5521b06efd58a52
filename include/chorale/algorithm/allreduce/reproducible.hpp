// SPDX-License-Identifier: Apache-2.0
// Allreduce with the same bits as a serial loop.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <chorale/algorithm/allgather/ring.hpp>
#include <chorale/algorithm/evaluation.hpp>
#include <chorale/algorithm/even_shares.hpp>
#include <chorale/algorithm/operands_of_all.hpp>
#include <chorale/algorithm/read_operands.hpp>
#include <chorale/algorithm/reduce_exchange.hpp>
#include <chorale/algorithm/reduce_scatter/direct.hpp>
#include <chorale/algorithm/scratch.hpp>
#include <chorale/core/copy_bytes.hpp>

namespace chorale::allreduce {

/// result[i] = ((x_0[i] op x_1[i]) op x_2[i]) ..., with exactly this bracketing, as in a serial loop over the
/// ranks: the bits depend only on the operands and their order, not on the message size, a tree, the
/// transport or the timing. Any operator.
///
/// Short messages: every rank sends its operand to every other, and each evaluates all. Long messages: each
/// rank evaluates one share (`reduce_scatter::direct`), and the shares are allgathered. Cost: n - 1 messages
/// per rank; for long messages 2 (n - 1) messages of a share.
///
/// Where ranks read each other's operands and have a core each, each rank reads its share of all operands in
/// place and writes the combined share into the results of the others, which may be their operands. No other
/// rank reads or writes the elements of that share, so ranks wait for each other only at the beginning and at
/// the end.
struct reproducible {
  static constexpr auto implements = operation::allreduce;
  static constexpr auto evaluates = evaluation::serial;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  /// `in`: this rank's operand; `out`: the result, of the same length, either `in` itself or not overlapping
  /// it.
  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, std::span<const std::byte> in, std::span<std::byte> out,
                    reduction op) {
    if (in.size() <= op.whole(net.block_bytes())) return everyone_evaluates(net, now, in, out, op);
    if constexpr (reads_operands<Net>) {
      if (net.size() > 1 && chorale::is_read(net, in.size()) && chorale::all_combine_at_once(net))
        return by_reads(net, now, in, out, std::move(op));
    }
    return each_its_share(net, now, in, out, op);
  }

 private:
  /// A copy of this rank's operand of at most a block, kept between calls: `scratch_of` would cost more
  /// instructions. Calls of one communicator run one after the other.
  struct operand {
    std::vector<std::byte> bytes;
  };

  template <mailbox_transport Net>
  static task<> everyone_evaluates(Net& net, call_id now, std::span<const std::byte> in,
                                   std::span<std::byte> out, reduction op) {
    if (in.empty()) co_return;
    const int n = net.size();
    for (int distance = 1; distance < n; ++distance) co_await net.send((net.rank() + distance) % n, now, in);
    if (in.data() == out.data()) {
      // The partial result of the lower ranks overwrites this rank's operand before it is combined.
      auto& kept = net.template state<operand>().bytes;
      chorale::assign_bytes(kept, in);
      in = kept;
    }
    co_await chorale::fold_in_rank_order(net, now, in, out, op);
  }
  template <mailbox_transport Net>
  static task<> each_its_share(Net& net, call_id now, std::span<const std::byte> in, std::span<std::byte> out,
                               reduction op) {
    const auto layout = chorale::even_shares(net.size(), in.size(), op.element_bytes());
    const auto held = chorale::scratch_of(net, layout[net.rank()].bytes);
    const auto share = held.memory();
    co_await reduce_scatter::direct::run(net, now, blocks<const std::byte>{in, layout}, share, op);
    const blocks<std::byte> shares{out, layout};
    chorale::move_bytes(shares[net.rank()], share);
    co_await allgather::ring::run(net, now, shares);
  }

  template <reads_operands Net>
  static task<> by_reads(Net& net, call_id now, std::span<const std::byte> in, std::span<std::byte> out,
                         reduction op) {
    const std::size_t most = operands_of_all<Net>::piece_bytes(op, in.size());
    operands_of_all<Net> all{net, now, in, out, most};
    in = all.operand();
    out = all.result();
    co_await all.announce();
    co_await all.find();
    const extent mine =
        chorale::even_shares(net.size(), in.size(), operands_of_all<Net>::granule_bytes(op))[net.rank()];
    for (std::size_t done = 0; done < mine.bytes; done += most) {
      const std::size_t at = mine.offset + done;
      const auto own = out.subspan(at, std::min(most, mine.bytes - done));
      if (in.data() == out.data())
        co_await combine_in_place(net, all, own, at, op);
      else
        co_await all.combine(at, own, op);
      for (int d = 1; d < net.size(); ++d) co_await all.write((net.rank() + d) % net.size(), at, own);
    }
    co_await all.finish();
  }

  /// own = ((x_0 op x_1) op x_2) ..., where `own` is this rank's operand from byte `at` on. `op` must outlive
  /// the coroutine.
  template <reads_operands Net>
  static task<> combine_in_place(Net& net, operands_of_all<Net>& all, std::span<std::byte> own,
                                 std::size_t at, const reduction& op) {
    const auto below = all.place(0, own.size());
    const auto next = all.place(1, own.size());
    for (int from = 0; from < net.size(); ++from) {
      if (from == net.rank()) {
        if (from != 0) op.combine_right(below, own);
        continue;
      }
      const auto operand = from == 0 ? below : next;
      co_await all.read(from, at, operand);
      if (from > net.rank())
        op.combine_left(own, operand);
      else if (from != 0)
        op.combine_left(below, operand);
    }
  }
};

}  // namespace chorale::allreduce
