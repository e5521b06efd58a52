// Pairwise exchange alltoall over two transports at once.
#pragma once

#include <chorale/algorithm/alltoall/pairwise.hpp>
#include <chorale/topology/all_pairs.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::alltoall {

/// Pairwise exchange in which `Limit` of the n - 1 steps go by reliable connection and the others by
/// datagram, the same steps on all ranks. Even and uneven blocks. Cost: as pairwise exchange, and `Limit`
/// connections a rank: where n is no power of two a step has a partner to send to and another to receive
/// from, and so those steps are taken that have the same two, i and n - i (`topology::nearest_steps`). If n
/// and `Limit` are odd there is one step and one connection more. Over `transport::hybrid<Limit,
/// path_choice::asked>` all of them are made; on transports with one way only it is `pairwise`. Source: P5
/// section 4.3.
///
/// The first calls make the connections and go by datagram meanwhile: order holds across the change.
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
