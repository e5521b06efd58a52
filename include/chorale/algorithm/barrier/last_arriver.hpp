// Last-arriver barrier.
#pragma once

#include <chorale/algorithm/barrier/central.hpp>
#include <chorale/algorithm/host_slots.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::barrier {

/// Each rank counts one shared counter up; whoever is last says so to all. Nobody waits for a rank that has
/// arrived and has no core, so that it is the fastest where ranks outnumber cores. Where ranks do not share
/// memory it is `central`. Cost: one atomic addition a rank, one store, and a wait. Any n.
struct last_arriver {
  static constexpr auto implements = operation::barrier;
  template <class Net>
  static constexpr bool runs_on = mapping_transport<Net>;
  template <class Net>
  static bool suits(const Net& net) noexcept {
    return net.maps_memory();
  }

  template <mapping_transport Net>
  static task<> run(Net& net, call_id now) {
    auto& host = net.template state<host_slots<Net>>();
    if (!host.is_decided()) [[unlikely]]
      co_await host.decide(net, now);
    if (!host.are_there()) [[unlikely]] {
      co_await central::run(net, now);
      co_return;
    }
    shared_slots& slots = host.slots();
    slots.begin(now);
    if (co_await host.arrives_last(net, now)) slots.publish();
  }
};

}  // namespace chorale::barrier
