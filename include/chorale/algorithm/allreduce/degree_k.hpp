// Degree-k allreduce.
#pragma once

#include <cstddef>
#include <span>

#include <chorale/algorithm/broadcast/binomial.hpp>
#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/chunks.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/topology/degree_k.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::allreduce {

/// A degree-k reduce to rank 0, in place, then a broadcast from there: `Down`, the binomial one in the paper.
/// Evaluates in rank order, so also for operators that do not commute, and always to the same bits. Any n.
/// Cost: ceil(log_{K+1} n) steps up and those of `Down`.  Source: P2 section 4.2; P3 figure 6.16.
///
/// All blocks go up before the first comes down: a rank that still sends up does not read what comes down,
/// and the two together could fill each other's mailboxes.
template <int K, class Down = broadcast::binomial>
struct degree_k {
  static_assert(topology::valid_degree(K), "the degree of a degree-k tree is 2^m - 1: 1, 3, 7, 15, ...");
  static constexpr auto implements = operation::allreduce;
  template <class T>
  static constexpr bool runs_on = mailbox_transport<T> && Down::template runs_on<T>;

  template <mailbox_transport Net>
  static task<> run(Net& net, epoch now, std::span<std::byte> data, reduction op) {
    const topology::degree_k tree{net.rank(), net.size(), K};
    for (const auto block : chunks{data, op.whole(net.block_bytes())}) {
      for (const int child : tree.children()) {
        const auto operand = co_await net.receive(child, now);
        op.combine_left(block, transfer::exact(net, child, now, operand, block.size()));
      }
      if (!tree.is_root()) co_await net.send(tree.parent(), now, block);
    }
    co_await Down::run(net, now, data, 0);
  }
};

}  // namespace chorale::allreduce
