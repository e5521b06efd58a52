// SPDX-License-Identifier: Apache-2.0
// Measures the library's own work for a call and for a message, without the adapter's.
#include <array>
#include <cstddef>
#include <sched.h>
#include <span>
#include <stdexcept>

#include <chorale/bootstrap/launched.hpp>
#include <chorale/core/task.hpp>
#include <chorale/transport/rc.hpp>
#include <chorale/transport/rc_send_receive.hpp>

#include "../../one_core.hpp"
#include "facts.hpp"

namespace points::calibration {
namespace {

template <class Net>
chorale::task<> to_and_fro(Net& net, chorale::call_id now, int rounds) {
  std::array<std::byte, 8> payload{};
  const int other = 1 - net.rank();
  for (int i = 0; i < rounds; ++i) {
    if (net.rank() == 0) co_await net.send(other, now, std::span<const std::byte>{payload});
    co_await net.receive(other, now);
    if (net.rank() == 1) co_await net.send(other, now, std::span<const std::byte>{payload});
  }
}

/// A message of 8 bytes through the library.
template <class Net>
double message(const job& in, chorale::wait_policy wait = chorale::wait_policy::automatic) {
  chorale::bootstrap::launched group;
  chorale::config settings = chorale::config::from_environment();
  settings.wait = wait;
  Net net{group, settings};
  return one_way(in, [&net](int rounds) {
    const auto now = net.begin({.what = chorale::operation::barrier});
    auto program = to_and_fro(net, now, rounds);
    program.resume();
    program.result();
    net.complete(now);
  });
}

/// Keeps ranks 0 and 1 on the core of rank 0 during its lifetime.
class on_one_core {
 public:
  explicit on_one_core(const job& in) {
    CPU_ZERO(&before_);
    sched_getaffinity(0, sizeof before_, &before_);
    int core = sched_getcpu();
    in.control.broadcast(core, chorale::root{0});
    if (!tools::keep_on_core(core))
      throw std::runtime_error(
          "calibrate: ranks 0 and 1 may not share a core, to see what changing between them takes");
  }
  ~on_one_core() { sched_setaffinity(0, sizeof before_, &before_); }
  on_one_core(const on_one_core&) = delete;
  on_one_core& operator=(const on_one_core&) = delete;

 private:
  cpu_set_t before_;
};

}  // namespace

library_facts measure_library(const job& in, const adapter_facts& adapter, const host_facts& host) {
  library_facts found;
  const double written = message<chorale::transport::rc>(in);
  const double received = message<chorale::transport::rc_send_receive>(in);
  auto alone = in.control.split(in.control.rank());
  double value = 1;
  found.call = in.all.max(time_of(2000, [&](int n) {
    for (int i = 0; i < n; ++i) value = alone->allreduce(value, chorale::max);
  }));
  const double posted = adapter.request + adapter.doorbell;
  const double seen = host.notice + host.look;
  found.send = std::max(0.0, written - posted - adapter.start - seen);
  {
    const on_one_core shared{in};
    const double by_turns = message<chorale::transport::rc>(in, chorale::wait_policy::yield);
    found.context_switch = std::max(0.0, by_turns - posted - adapter.start - found.send);
  }
  found.receive = std::max(0.0, received - posted - adapter.start - adapter.take - seen - adapter.poll -
                                    adapter.completion - adapter.receive - found.send);
  in.control.barrier();
  return found;
}

}  // namespace points::calibration
