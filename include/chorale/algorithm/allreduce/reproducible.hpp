// Allreduce whose bits are those of a serial loop.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <chorale/algorithm/allgather/ring.hpp>
#include <chorale/algorithm/evaluation.hpp>
#include <chorale/algorithm/even_shares.hpp>
#include <chorale/algorithm/reduce_exchange.hpp>
#include <chorale/algorithm/reduce_scatter/direct.hpp>
#include <chorale/core/copy_bytes.hpp>

namespace chorale::allreduce {

/// result[i] = ((x_0[i] op x_1[i]) op x_2[i]) ..., exactly so: the bits depend on the operands and their
/// order alone, not on the size of the message, the shape of a tree, the transport or the timing, and are
/// those of a serial loop over the ranks. Any operator.
///
/// Short messages: everyone sends its operand to everyone, and each evaluates all. Long ones: each rank
/// evaluates one share (`reduce_scatter::direct`), and the shares are gathered. Cost: n - 1 messages a rank;
/// for long messages two of them, a share each.
struct reproducible {
  static constexpr auto implements = operation::allreduce;
  static constexpr auto evaluates = evaluation::serial;
  template <class T>
  static constexpr bool runs_on = mailbox_transport<T>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, std::span<std::byte> data, reduction op) {
    if (data.size() <= op.whole(net.block_bytes())) return everyone_evaluates(net, now, data, op);
    return each_its_share(net, now, data, op);
  }

 private:
  /// This rank's own, kept from call to call so that no call allocates; calls of one communicator run one
  /// after the other.
  struct operand {
    std::vector<std::byte> bytes;
  };

  template <mailbox_transport Net>
  static task<> everyone_evaluates(Net& net, call_id now, std::span<std::byte> data, reduction op) {
    if (data.empty()) co_return;
    const int n = net.size();
    for (int distance = 1; distance < n; ++distance)
      co_await net.send((net.rank() + distance) % n, now, data);
    auto& mine = net.template state<operand>().bytes;
    mine.assign(data.begin(), data.end());
    co_await fold_in_rank_order(net, now, mine, data, op);
  }
  template <mailbox_transport Net>
  static task<> each_its_share(Net& net, call_id now, std::span<std::byte> data, reduction op) {
    const auto layout = even_shares(net.size(), data.size(), op.element_bytes());
    std::vector<std::byte> share(layout[net.rank()].bytes);
    co_await reduce_scatter::direct::run(net, now, blocks<const std::byte>{data, layout}, share, op);
    const blocks<std::byte> shares{data, layout};
    if (!share.empty()) copy_bytes(shares[net.rank()].data(), share.data(), share.size());
    co_await allgather::ring::run(net, now, shares);
  }
};

}  // namespace chorale::allreduce
