// SPDX-License-Identifier: Apache-2.0
// Programs with interval timers: signals interrupt the library's system calls frequently, on every thread,
// and each call still gives correct results.
#include <atomic>
#include <csignal>
#include <sys/time.h>

#include "../inprocess/all_calls.hpp"
#include "harness.hpp"

using namespace misuse;

namespace {

std::atomic<long> ticks{0};

/// A signal every 50 us, without restart of interrupted system calls.
class timer {
 public:
  timer() {
    struct sigaction tick {};
    tick.sa_handler = [](int) { ticks.fetch_add(1, std::memory_order_relaxed); };
    REQUIRE(sigaction(SIGALRM, &tick, &before_) == 0);
    start(50);
  }
  ~timer() {
    start(0);
    sigaction(SIGALRM, &before_, nullptr);
  }
  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;

 private:
  static void start(long microseconds) {
    const itimerval every{{0, microseconds}, {0, microseconds}};
    setitimer(ITIMER_REAL, &every, nullptr);
  }
  struct sigaction before_ {};
};

}  // namespace

TEMPLATE_TEST_CASE("signals every 50 us change nothing", "[misuse]", MISUSE_TRANSPORTS) {
  for (const int size : group_sizes) {
    const timer ticking;
    inprocess::barrier_witness witness{size};
    const long before = ticks.load();
    const auto all = run<TestType>(size, [&](auto& comm) {
      inprocess::check_calls(comm, witness, {3, 20'000}, 1);
      auto half = comm.split(comm.rank() % 2);
      half->barrier();
    });
    INFO(describe(all));
    CHECK(ticks.load() > before);
    for (const auto& one : all) CHECK_FALSE((one.failed() || one.later));
  }
}
