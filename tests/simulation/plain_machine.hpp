// SPDX-License-Identifier: Apache-2.0
// A machine whose times are easy to compute, for tests of ghosts.
#pragma once

#include <chrono>

#include <chorale/core/call.hpp>
#include <chorale/simulation/machine/machine.hpp>

namespace simulation_test {

/// A message of no bytes takes 1,000 ns from its sender's call until its receiver sees it; 100 of them are
/// the sender's processor time. A byte takes 1 ns.
inline chorale::simulation::machine plain(int hosts) {
  using namespace chorale::simulation;
  using namespace std::chrono_literals;
  machine all;
  all.name = "plain";
  all.hosts = hosts;
  all.host.notice = 50ns;
  all.adapter.posting.request = 60ns;
  all.adapter.posting.doorbell = 40ns;
  all.adapter.sending.start = 300ns;
  all.adapter.receiving.place = 420ns;
  all.adapter.bus.rate = byte_cost::femtoseconds(0);
  all.network.shape = one_switch{hosts};
  all.network.host_link = {byte_cost::rate(1'000'000'000), 15ns};
  all.network.switches.forward = 100ns;
  all.network.packets.payload = 4096;
  return all;
}

inline constexpr chorale::call_id first_call{1, 7, chorale::operation::barrier};

}  // namespace simulation_test
