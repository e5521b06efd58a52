// SPDX-License-Identifier: Apache-2.0
// Degree-k allreduce.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <chorale/algorithm/broadcast/binomial.hpp>
#include <chorale/algorithm/reduce/put_operands.hpp>
#include <chorale/algorithm/reduce_exchange.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/chunks.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/topology/degree_k.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::allreduce {

/// A degree-k reduce to rank 0, in place, then the broadcast `Down` from there (binomial in the paper).
/// Evaluates in rank order, so operators need not commute, and always yields the same bits. Any n. Short
/// operands travel in blocks, long ones are put. Cost: ceil(log_{k+1} n) steps up, then the steps of `Down`.
/// Source: P2 section 4.2; P3 figure 6.16.
///
/// The broadcast is the acknowledgement (P2 section 4.2.4): data arriving from the parent imply that all
/// operands sent up have been combined, so blocks on the way up need no acknowledgements.
///
/// All blocks go up before the first comes down: a rank that is still sending up does not receive from above,
/// so otherwise two ranks could fill each other's mailboxes.
template <int Degree, class Down = broadcast::binomial>
struct degree_k {
  static_assert(topology::valid_degree(Degree), "the degree of a degree-k tree is 2^m - 1: 1, 3, 7, 15, ...");
  static constexpr auto implements = operation::allreduce;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net> && Down::template runs_on<Net>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, std::span<std::byte> data, reduction op) {
    const topology::degree_k tree{net.rank(), net.size(), Degree};
    if constexpr (reduce::puts_operands<Net>) {
      if (reduce::is_put(net, data.size())) [[unlikely]] {
        co_await straight(net, now, data, op, tree);
        co_return;
      }
    }
    if constexpr (message_transport<Net>) {
      if (chorale::is_whole_operand(net, data.size(), op)) {
        co_await by_messages(net, now, data, op, tree);
        co_return;
      }
    }
    const auto children = tree.children();
    const int parent = tree.parent();
    const std::byte* const end = data.data() + data.size();
    for (const auto block : chunks{data, op.whole(net.block_bytes())}) {
      for (const int child : children) {
        {
          const auto operand = co_await net.receive(child, now);
          op.combine_left(block, transfer::exact(net, child, now, operand, block.size()));
        }
        if (block.data() + block.size() == end) transfer::will_answer(net, child);
      }
      if (parent >= 0) co_await net.send(parent, now, block);
    }
    if (data.empty()) co_return;
    const std::uint64_t sent = transfer::sent_to(net, parent);
    co_await Down::run(net, now, data, 0);
    transfer::answered_by(net, parent, sent);
  }

 private:
  /// One message up, then those of `Down`. `op` must outlive the coroutine.
  template <message_transport Net>
  static task<> by_messages(Net& net, call_id now, std::span<std::byte> data, const reduction& op,
                            topology::degree_k tree) {
    for (const int child : tree.children())
      co_await chorale::exchange_and_combine(net, now, child, {}, child, data, false, op);
    if (!tree.is_root())
      co_await chorale::exchange_and_combine(net, now, tree.parent(), data, tree.parent(), {}, false, op);
    co_await Down::run(net, now, data, 0);
  }
  /// `op` must outlive the coroutine.
  template <reduce::puts_operands Net>
  static task<> straight(Net& net, call_id now, std::span<std::byte> data, const reduction& op,
                         topology::degree_k tree) {
    const reduce::operand_pieces pieces{op, data.size()};
    const auto children = tree.children();
    {
      std::optional<reduce::put_operand<Net>> up;
      if (!tree.is_root()) up.emplace(net, now, data, pieces, tree.parent());
      std::optional<reduce::operand_room<Net, decltype(tree.children())>> room;
      if (!children.empty()) room.emplace(net, now, children, pieces);
      if (room) co_await room->invite();
      for (std::size_t n = 0; n < pieces.count(); ++n) {
        if (room) co_await room->combine(n, pieces.of(data, n), op);
        if (up) co_await up->put(n);
      }
      if (up) co_await up->flush();
    }
    for (const int child : children) transfer::will_answer(net, child);
    const std::uint64_t sent = transfer::sent_to(net, tree.parent());
    co_await Down::run(net, now, data, 0);
    transfer::answered_by(net, tree.parent(), sent);
  }
};

}  // namespace chorale::allreduce
