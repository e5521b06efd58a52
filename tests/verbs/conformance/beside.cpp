// SPDX-License-Identifier: Apache-2.0
#include "beside.hpp"

#include <chrono>
#include <stdexcept>
#include <thread>

#include "report.hpp"

#ifdef CHORALE_HAVE_SIMULATION
#include "../../../lib/simulation/device/fabric.hpp"
#endif

namespace conformance {

#ifdef CHORALE_HAVE_SIMULATION

namespace {

namespace simulation = chorale::simulation;

/// A host with an adapter similar to current ones.
simulation::machine one_host() {
  using namespace std::chrono_literals;
  simulation::machine m;
  m.hosts = 1;
  m.adapter.posting = {.request = 20ns, .doorbell = 60ns, .inline_bytes = 188};
  m.adapter.sending = {.start = 200ns, .fetch = 450ns, .gap = 5ns, .packet = 5ns};
  m.adapter.receiving = {.place = 230ns, .take = 60ns, .complete = 30ns, .gap = 5ns, .acknowledge = 60ns};
  m.adapter.receiving.read = m.adapter.receiving.atomic = 450ns;
  m.adapter.bus.rate = simulation::byte_cost::rate(26'000'000'000);
  m.adapter.registration = {.call = 1us, .page = 50ns};
  m.network.shape = simulation::one_switch{1};
  m.network.host_link = {simulation::byte_cost::rate(25'000'000'000), 20ns};
  m.network.packets = {.payload = 4096, .connected = 30, .datagram = 38};
  return m;
}

simulation::scheduler& time_of_simulation() {
  return simulation::device::fabric::current()->time();
}

}  // namespace

struct beside::flow {
  explicit flow(std::function<void()> body) {
    if (is_simulated())
      fiber = &time_of_simulation().spawn("beside the test", 0, std::move(body));
    else
      thread = std::thread(std::move(body));
  }
  void join() {
    if (fiber != nullptr)
      time_of_simulation().join(*fiber);
    else
      thread.join();
  }
  simulation::fiber* fiber = nullptr;
  std::thread thread;
};

void run_on_device(const std::function<void()>& body) {
  if (!is_simulated()) return body();
  // The test framework needs a large stack.
  simulation::scheduler time({.stack_bytes = std::size_t{8} << 20});
  simulation::device::wire costs(one_host(), 1);
  const simulation::device::fabric all(time, costs, {1, 1});
  time.spawn("the tests", 0, body);
  time.run();
}

#else

struct beside::flow {
  explicit flow(std::function<void()> body) : thread(std::move(body)) {}
  void join() { thread.join(); }
  std::thread thread;
};

void run_on_device(const std::function<void()>& body) {
  if (is_simulated()) throw std::runtime_error("sim0: built without Boost.Context");
  body();
}

#endif

beside::beside(std::function<void()> body) : flow_(std::make_unique<flow>(std::move(body))) {}

beside::~beside() {
  join();
}

void beside::join() {
  if (flow_ == nullptr) return;
  flow_->join();
  flow_ = nullptr;
}

}  // namespace conformance
