// The allreduce that a communicator has if none is chosen.
#pragma once

#include <cstddef>
#include <span>

#include <chorale/algorithm/allreduce/degree_k.hpp>
#include <chorale/algorithm/allreduce/recursive_doubling.hpp>
#include <chorale/algorithm/broadcast/flat.hpp>

namespace chorale::allreduce {

/// Short messages, and those between two ranks, by recursive doubling, long ones by the degree-3 tree. Where
/// ranks outnumber the cores, steps cost more than messages, since each step waits for other ranks to get a
/// core: there the degree-15 tree and a flat broadcast serve short messages. Every rank of a group chooses
/// alike.
struct standard {
  static constexpr auto implements = operation::allreduce;
  template <class T>
  static constexpr bool runs_on = mailbox_transport<T>;

  template <mailbox_transport Net>
  static task<> run(Net& net, epoch now, std::span<std::byte> data, reduction op) {
    const bool short_message = data.size() <= net.block_bytes();
    if constexpr (requires { net.oversubscribed(); }) {
      if (net.oversubscribed() && short_message)
        return degree_k<15, broadcast::flat>::run(net, now, data, op);
    }
    if (short_message || net.size() == 2) return recursive_doubling::run(net, now, data, op);
    return degree_k<3>::run(net, now, data, op);
  }
};

}  // namespace chorale::allreduce
