// SPDX-License-Identifier: Apache-2.0
// Bounded waits of the class `completion_channel`.
#include <signal.h>
#include <sys/time.h>

#include <catch2/catch.hpp>

#include "support.hpp"

using namespace chorale::verbs;
using namespace std::chrono_literals;

TEST_CASE("a wait lasts as long as requested, despite signals", "[device]") {
  const test::rig r;
  const completion_channel channel(r.device);
  struct sigaction act {
  }, before{};
  act.sa_handler = [](int) {};
  REQUIRE(sigaction(SIGALRM, &act, &before) == 0);
  const itimerval each{.it_interval = {0, 5000}, .it_value = {0, 5000}};
  setitimer(ITIMER_REAL, &each, nullptr);
  const auto start = std::chrono::steady_clock::now();
  CHECK_FALSE(channel.wait_for(40ms));
  CHECK(std::chrono::steady_clock::now() - start >= 40ms);
  const itimerval off{};
  setitimer(ITIMER_REAL, &off, nullptr);
  sigaction(SIGALRM, &before, nullptr);
}
