// Degree-k reduce.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include <chorale/algorithm/transfer.hpp>
#include <chorale/core/chunks.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/topology/degree_k.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::reduce {

/// Up the degree-k tree (K = 2^m - 1): a rank receives from at most K others in a step and combines their
/// operands in ascending rank order, so that the result is right for operators that do not commute, and the
/// same whenever messages arrive. Any n; the tree is headed by rank 0, which forwards the result to another
/// root. Cost: ceil(log_{K+1} n) steps; one more message if root is not 0.  Source: P2 section 4.2;
/// P3 figure 6.16 for the cost.
template <int K>
struct degree_k {
  static_assert(topology::valid_degree(K), "the degree of a degree-k tree is 2^m - 1: 1, 3, 7, 15, ...");
  static constexpr auto implements = operation::reduce;
  template <class T>
  static constexpr bool runs_on = mailbox_transport<T>;

  /// `in`: this rank's operand; `out`: at the root the result (may be `in`), elsewhere unused and may be
  /// empty.
  template <mailbox_transport Net>
  static task<> run(Net& net, epoch now, std::span<const std::byte> in, std::span<std::byte> out,
                    reduction op, int root) {
    const topology::degree_k tree{net.rank(), net.size(), K, root};
    std::vector<std::byte> scratch;
    // Where rank 0 forwards the result, the root takes a block while later ones are still on their way up:
    // fewer wait for it than a mailbox has blocks.
    std::size_t delivered = 0;
    std::size_t at = 0;
    const std::size_t block = op.whole(net.block_bytes());
    const std::size_t ahead = net.blocks() / 2 * block;
    const bool takes = tree.deliver_from() >= 0;
    for (const auto bytes : chunks{in, block}) {
      const std::byte* result = bytes.data();
      if (!tree.children().empty()) {
        scratch.assign(bytes.begin(), bytes.end());
        for (const int child : tree.children()) {
          const auto operand = co_await net.receive(child, now);
          op.combine_left(scratch, transfer::exact(net, child, now, operand, scratch.size()));
        }
        result = scratch.data();
      }
      if (!tree.is_root()) co_await net.send(tree.parent(), now, {result, bytes.size()});
      if (tree.deliver_to() >= 0) co_await net.send(tree.deliver_to(), now, {result, bytes.size()});
      if (net.rank() == root && !takes) std::memmove(out.data() + at, result, bytes.size());
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
};

}  // namespace chorale::reduce
