// SPDX-License-Identifier: Apache-2.0
// Last-arriver barrier.
#pragma once

#include <chorale/algorithm/barrier/central.hpp>
#include <chorale/algorithm/host_slots.hpp>
#include <chorale/transport/concepts.hpp>

namespace chorale::barrier {

/// Each rank increments a shared counter; the last arriver notifies all. No rank waits for a rank that has
/// arrived but has no core, so this is the fastest where ranks outnumber cores. Where ranks do not share
/// memory, `central` is used. Cost: one atomic addition and one store per rank, and a wait. Any n.
struct last_arriver : over_mapped_memory {
  static constexpr auto implements = operation::barrier;
  template <class Net>
  static constexpr bool runs_on = mapping_transport<Net>;

  template <mapping_transport Net>
  static task<> run(Net& net, call_id now) {
    auto& host = net.template state<host_slots<Net>>();
    if (!host.is_decided()) [[unlikely]]
      co_await host.decide(net, now);
    if (!host.are_there()) [[unlikely]] {
      co_await central::run(net, now);
      co_return;
    }
    auto& slots = host.slots();
    slots.begin(now);
    if (co_await host.arrives_last(net, now)) slots.publish();
  }
};

}  // namespace chorale::barrier
