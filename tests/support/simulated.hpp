// SPDX-License-Identifier: Apache-2.0
// Ranks in virtual time, on a machine for tests.
#pragma once

#include <stdexcept>

#if CHORALE_TEST_SIMULATION
#include <chrono>

#include <chorale/simulation/run.hpp>
#endif

namespace support {

#if CHORALE_TEST_SIMULATION

/// Hosts of four ranks at one switch, with the times of present-day hardware.
inline chorale::simulation::machine test_machine(int ranks) {
  using namespace std::chrono_literals;
  using chorale::simulation::byte_cost;
  constexpr auto link = byte_cost::rate(12'500'000'000);
  chorale::simulation::machine m;
  m.name = "tests";
  m.ranks_per_host = 4;
  m.hosts = (ranks + 3) / 4;
  m.host.cores = 4;
  m.host.look = 20ns;
  m.adapter.posting.doorbell = 50ns;
  m.adapter.posting.inline_bytes = 256;
  m.adapter.sending.start = 300ns;
  m.adapter.receiving.place = 300ns;
  m.adapter.receiving.complete = 50ns;
  m.adapter.bus.rate = byte_cost::rate(16'000'000'000);
  m.adapter.wake = 3us;
  m.network.shape = chorale::simulation::one_switch{m.hosts};
  m.network.host_link.rate = link;
  m.network.host_link.delay = 20ns;
  m.network.switches.forward = 150ns;
  m.network.packets = {.payload = 4096, .connected = 26, .datagram = 34};
  return m;
}

/// What the ranks of a host do without its adapter: times of present-day cores.
inline chorale::simulation::near_costs test_near() {
  using namespace std::chrono_literals;
  using chorale::simulation::byte_cost;
  return {.post = 45ns,
          .line = 100ns,
          .byte = byte_cost::rate(12'000'000'000),
          .uncached = 524'288,
          .memory = byte_cost::rate(100'000'000'000)};
}

/// Runs `body(group)` on `size` ranks.
template <class Body>
void run_simulated(int size, Body&& body) {
  chorale::simulation::run(size, test_machine(size), [&](chorale::simulation::group& g) { body(g); });
}

#else

template <class Body>
void run_simulated(int, Body&&) {
  throw std::runtime_error{"this build has no simulation: it lacks Boost.Context"};
}

#endif

}  // namespace support
