// SPDX-License-Identifier: Apache-2.0
// Degree-k reduce.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>

#include <chorale/algorithm/reduce/put_operands.hpp>
#include <chorale/algorithm/reduce_exchange.hpp>
#include <chorale/algorithm/scratch.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/chunks.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/topology/degree_k.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::reduce {

/// Up the degree-k tree (k = 2^m - 1): in each step a rank receives from at most k others and combines their
/// operands in ascending rank order, so operators need not commute, and the result does not depend on timing.
/// Any n. The tree is rooted at rank 0, which forwards the result if another rank is the root. Short operands
/// travel in blocks; long ones are put, for which inner ranks need memory for one operand. Cost:
/// ceil(log_{k+1} n) steps; one more message if the root is not rank 0. Source: P2 section 4.2; P3 figure
/// 6.16 for the cost.
template <int Degree>
struct degree_k {
  static_assert(topology::valid_degree(Degree), "the degree of a degree-k tree is 2^m - 1: 1, 3, 7, 15, ...");
  static constexpr auto implements = operation::reduce;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  /// `in`: this rank's operand. `out`: the result at the root, may be `in`; elsewhere unused, may be empty.
  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, std::span<const std::byte> in, std::span<std::byte> out,
                    reduction op, int root) {
    const topology::degree_k tree{net.rank(), net.size(), Degree, root};
    if constexpr (puts_operands<Net>) {
      if (reduce::is_put(net, in.size()) && net.size() > 1) [[unlikely]] {
        co_await straight(net, now, in, out, op, tree);
        co_return;
      }
    }
    if constexpr (message_transport<Net>) {
      if (chorale::is_whole_operand(net, in.size(), op)) {
        co_await by_messages(net, now, in, out, op, tree);
        co_return;
      }
    }
    // If rank 0 forwards the result, the root takes result blocks while later operands are still on their way
    // up, so that fewer blocks wait for it than a mailbox holds.
    std::size_t delivered = 0;
    std::size_t at = 0;
    const std::size_t block = op.whole(net.block_bytes());
    const std::size_t ahead = net.blocks() / 2 * block;
    const bool takes = tree.deliver_from() >= 0;
    const bool keeps = net.rank() == root && !takes;
    const bool puts_aside = !keeps && !tree.children().empty();
    const auto aside = chorale::scratch_of(net, puts_aside ? std::min(block, in.size()) : 0);
    for (const auto bytes : chunks{in, block}) {
      const std::byte* result = bytes.data();
      if (!tree.children().empty()) {
        const std::span<std::byte> combined = (keeps ? out.subspan(at) : aside.memory()).first(bytes.size());
        move_bytes(combined, bytes);
        for (const int child : tree.children()) {
          const auto operand = co_await net.receive(child, now);
          op.combine_left(combined, transfer::exact(net, child, now, operand, combined.size()));
        }
        result = combined.data();
      }
      if (!tree.is_root()) co_await net.send(tree.parent(), now, {result, bytes.size()});
      if (tree.deliver_to() >= 0) co_await net.send(tree.deliver_to(), now, {result, bytes.size()});
      if (keeps) move_bytes(out.subspan(at), {result, bytes.size()});
      at += bytes.size();
      if (takes && at - delivered > ahead) {
        const auto arrived = co_await net.receive(tree.deliver_from(), now);
        const auto piece = out.subspan(delivered, std::min(block, in.size() - delivered));
        transfer::place(net, tree.deliver_from(), now, arrived, piece);
        delivered += piece.size();
      }
    }
    while (takes && delivered < in.size()) {
      const auto arrived = co_await net.receive(tree.deliver_from(), now);
      const auto piece = out.subspan(delivered, std::min(block, in.size() - delivered));
      transfer::place(net, tree.deliver_from(), now, arrived, piece);
      delivered += piece.size();
    }
  }

 private:
  /// One message up. `op` must outlive the coroutine.
  template <message_transport Net>
  static task<> by_messages(Net& net, call_id now, std::span<const std::byte> in, std::span<std::byte> out,
                            const reduction& op, topology::degree_k tree) {
    const bool combines = !tree.children().empty();
    const auto aside = chorale::scratch_of(net, combines ? in.size() : 0);
    const auto kept = aside.memory();
    chorale::move_bytes(kept, in.first(kept.size()));
    const std::span<const std::byte> result = combines ? kept : in;
    for (const int child : tree.children())
      co_await chorale::exchange_and_combine(net, now, child, {}, child, kept, false, op);
    const int to = tree.is_root() ? tree.deliver_to() : tree.parent();
    if (to >= 0) co_await chorale::exchange_and_combine(net, now, to, result, to, {}, false, op);
    if (tree.deliver_from() >= 0)
      co_await transfer::receive(net, tree.deliver_from(), now, out.first(in.size()));
    else if (tree.is_root() && to < 0)
      move_bytes(out, result);
  }
  /// `op` must outlive the coroutine. Precondition: more than one rank.
  template <puts_operands Net>
  static task<> straight(Net& net, call_id now, std::span<const std::byte> in, std::span<std::byte> out,
                         const reduction& op, topology::degree_k tree) {
    const operand_pieces pieces{op, in.size()};
    const auto children = tree.children();
    const bool takes = tree.deliver_from() >= 0;
    const bool has_result = takes || (tree.is_root() && tree.deliver_to() < 0);
    // A root other than rank 0 may combine in `out`: no part of the result arrives there before rank 0 has
    // received and combined this rank's own part.
    const auto kept = chorale::scratch_of(net, !children.empty() && !has_result ? in.size() : 0);
    auto target = takes ? out : out.first(0);
    const auto exposed = transfer::expose(net, target);
    if (takes) out = target;
    const std::span<std::byte> combined = has_result ? out : kept.memory();
    if (takes) {
      const remote_region here = exposed.region();
      co_await net.send(tree.deliver_from(), now, transfer::bytes_of(here));
    }
    std::optional<operand_room<Net, decltype(tree.children())>> room;
    if (!children.empty()) room.emplace(net, now, children, pieces);
    if (room) co_await room->invite();
    std::optional<put_operand<Net>> up;
    if (!tree.is_root()) up.emplace(net, now, children.empty() ? in : combined, pieces, tree.parent());
    const bool delivers = tree.deliver_to() >= 0;
    const auto lent = transfer::lend(net, delivers ? combined : combined.first(0));
    remote_region there;
    if (delivers) {
      const auto place = co_await net.receive(tree.deliver_to(), now);
      there = transfer::read_region(net, tree.deliver_to(), now, place, in.size());
    }

    for (std::size_t n = 0; n < pieces.count(); ++n) {
      if (room) {
        const auto piece = pieces.of(combined, n);
        const auto own = pieces.of(in, n);
        if (own.data() != piece.data()) copy_bytes(piece.data(), own.data(), own.size());
        co_await room->combine(n, piece, op);
      }
      if (up) co_await up->put(n);
      if (delivers)
        co_await net.put(there, pieces.offset(n), lent, lent.current(pieces.of(combined, n)), now);
    }
    if (delivers) {
      co_await net.send(tree.deliver_to(), now, {});
      co_await net.flush(tree.deliver_to(), now);
    }
    if (up) co_await up->flush();
    if (takes) {
      const auto over = co_await net.receive(tree.deliver_from(), now);
      static_cast<void>(transfer::exact(net, tree.deliver_from(), now, over, 0));
    }
    exposed.copy_back();
  }
};

}  // namespace chorale::reduce
