// SPDX-License-Identifier: Apache-2.0
// Pairwise exchange alltoall over two transports at once.
#pragma once

#include <chorale/algorithm/alltoall/pairwise.hpp>
#include <chorale/topology/all_pairs.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::alltoall {

/// Pairwise exchange in which `Limit` of the n - 1 steps use reliable connections and the others datagrams,
/// the same steps on all ranks. Even and uneven blocks. Cost: that of pairwise exchange, and `Limit`
/// connections per rank. If n is not a power of two, a rank sends to one partner and receives from another in
/// each step; therefore the steps are chosen in pairs with the same two partners, i and n - i
/// (`topology::nearest_steps`). If n and `Limit` are odd, there is one more step and connection.
/// `transport::hybrid<Limit, path_choice::asked>` makes all these connections; on transports with a single
/// path this is `pairwise`. Source: P5 section 4.3.
///
/// The first calls set up the connections and meanwhile use datagrams; messages stay in order across the
/// change.
template <int Limit>
struct hybrid_pairwise {
  static_assert(Limit >= 0, "the number of steps that go by connection");
  static constexpr auto implements = operation::alltoall;
  static constexpr bool uneven = true;
  template <class Net>
  static constexpr bool runs_on = mailbox_transport<Net>;

  template <mailbox_transport Net>
  static task<> run(Net& net, call_id now, blocks<const std::byte> in, blocks<std::byte> out) {
    if constexpr (path_choosing_transport<Net>) {
      for (const auto step : topology::all_pairs{net.rank(), net.size()})
        if (topology::nearest_steps{net.size(), Limit}.contain(step.index)) net.wants_connection(step.to);
    }
    return pairwise::run(net, now, in, out);
  }
};

}  // namespace chorale::alltoall
