// Pairwise exchange alltoall over two transports at once.
#pragma once

#include <chorale/algorithm/alltoall/pairwise.hpp>
#include <chorale/topology/all_pairs.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::alltoall {

/// Pairwise exchange in which the first `Limit` of the n - 1 steps go by reliable connection and the others
/// by datagram; `Limit` is the same on all ranks. Even and uneven blocks. Cost: as pairwise exchange; at most
/// `Limit` connections a rank where n is a power of two, else twice as many, since a step then has a partner
/// to send to and another to receive from. On transports with one way only it is `pairwise`. Source: P5
/// section 4.3.
///
/// The first calls make the connections and go by datagram meanwhile: order holds across the change.
template <int Limit>
struct hybrid_pairwise {
  static_assert(Limit >= 0, "the number of steps that go by connection");
  static constexpr auto implements = operation::alltoall;
  static constexpr bool uneven = true;
  template <class T>
  static constexpr bool runs_on = mailbox_transport<T>;

  template <mailbox_transport Net>
  static task<> run(Net& net, epoch now, blocks<const std::byte> in, blocks<std::byte> out) {
    if constexpr (path_choosing_transport<Net>) {
      for (const auto step : topology::all_pairs{net.rank(), net.size()}) {
        if (step.index > Limit) break;
        net.wants_connection(step.to);
      }
    }
    return pairwise::run(net, now, in, out);
  }
};

}  // namespace chorale::alltoall
