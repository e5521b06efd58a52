// The class `completion_channel`: bounded waits, taking events, closing in order.
#include <signal.h>
#include <sys/time.h>

#include <catch2/catch.hpp>

#include "support.hpp"

using namespace chorale::verbs;
using test::next_completion;
using namespace std::chrono_literals;

namespace {

/// A connected RC pair; completions of the right end's receives raise events.
struct scene : test::rig {
  scene()
      : channel(device),
        receives(device, 64, &channel),
        left(domain, options(IBV_QPT_RC)),
        right(domain, {.type = IBV_QPT_RC, .send = &queue, .recv = &receives}) {
    connect(left, right);
    connect(right, left);
    for (std::uint64_t id = 0; id < 8; ++id) {
      ibv_recv_wr receive{.wr_id = id};
      right.post_recv(receive);
    }
  }
  void send() {
    ibv_sge none{};
    ibv_send_wr wanted = test::request(IBV_WR_SEND, none);
    wanted.num_sge = 0;
    left.post_send(wanted);
    REQUIRE(next_completion(queue).status == IBV_WC_SUCCESS);
  }

  completion_channel channel;
  completion_queue receives;
  queue_pair left, right;
};

}  // namespace

TEST_CASE("an armed queue raises one event for the next completion", "[device]") {
  scene s;
  CHECK(s.channel.fd() >= 0);
  CHECK_FALSE(s.channel.wait_for(0ms));
  s.send();
  CHECK_FALSE(s.channel.wait_for(5ms));  // not armed
  s.receives.request_notification();
  CHECK_FALSE(s.channel.wait_for(5ms));  // armed after the completion came
  s.send();
  REQUIRE(s.channel.wait_for(5s));
  CHECK(s.channel.get_event() == s.receives.native());
  s.send();
  CHECK_FALSE(s.channel.wait_for(5ms));  // one event per arming
  for (int i = 0; i < 3; ++i) CHECK(next_completion(s.receives).status == IBV_WC_SUCCESS);
  CHECK(test::error_of([&] { s.channel.close(); }).code().value() == EBUSY);
  s.left.close();
  s.right.close();
  s.receives.close();  // the event was acknowledged, so nothing keeps it
  s.channel.close();
}

TEST_CASE("a wait lasts as long as requested, despite signals", "[device]") {
  scene s;
  struct sigaction act {
  }, before{};
  act.sa_handler = [](int) {};
  REQUIRE(sigaction(SIGALRM, &act, &before) == 0);
  const itimerval each{.it_interval = {0, 5000}, .it_value = {0, 5000}};
  setitimer(ITIMER_REAL, &each, nullptr);
  const auto start = std::chrono::steady_clock::now();
  CHECK_FALSE(s.channel.wait_for(40ms));
  CHECK(std::chrono::steady_clock::now() - start >= 40ms);
  const itimerval off{};
  setitimer(ITIMER_REAL, &off, nullptr);
  sigaction(SIGALRM, &before, nullptr);
}
