// Allreduce over a circulant graph.
#pragma once

#include <span>

#include <chorale/algorithm/allgather/circulant.hpp>
#include <chorale/algorithm/allreduce/rabenseifner.hpp>
#include <chorale/algorithm/even_shares.hpp>
#include <chorale/algorithm/reduce_scatter/circulant.hpp>

namespace chorale::allreduce {

/// The message is divided into one share for each rank; a reduce-scatter and an allgather over a circulant
/// graph, both in place. Cost: 2 ceil(log2 n) rounds, in all less than twice the message each way, for any n:
/// what `rabenseifner` costs where n is a power of two, without its fold. Zero copy on the way back. For long
/// messages.  Source: `topology::circulant`.
///
/// All ranks get the same bits, but not in rank order: operators that do not commute (`chorale::commutes`)
/// are evaluated by `rabenseifner` instead.
struct circulant {
  static constexpr auto implements = operation::allreduce;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, std::span<std::byte> data, reduction op) {
    if (!op.commutes()) return rabenseifner::run(net, now, data, op);
    return down_and_up(net, now, data, op);
  }

 private:
  template <mailbox_transport Net>
  static task<> down_and_up(Net& net, call_id now, std::span<std::byte> data, reduction op) {
    const blocks<std::byte> shares{data, chorale::even_shares(net.size(), data.size(), op.element_bytes())};
    const blocks<const std::byte> given{data, shares.layout()};
    co_await reduce_scatter::circulant::combine(net, now, given, shares, op);
    co_await allgather::circulant::run(net, now, shares);
  }
};

}  // namespace chorale::allreduce
