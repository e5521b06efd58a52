// Being woken by completions: arming, solicited events, waits that end.
#include <atomic>
#include <signal.h>
#include <sys/time.h>
#include <thread>

#include <catch2/catch.hpp>

#include "support.hpp"

using namespace chorale::verbs;
using test::next_completion;
using namespace std::chrono_literals;

namespace {

/// RC pair of which the right end's receives raise events.
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
  void send(bool solicited = false) {
    ibv_sge none{};
    ibv_send_wr wanted = test::request(IBV_WR_SEND, none);
    wanted.num_sge = 0;
    if (solicited) wanted.send_flags |= IBV_SEND_SOLICITED;
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
  CHECK_FALSE(s.channel.wait_for(5ms));  // one event an arming
  for (int i = 0; i < 3; ++i) CHECK(next_completion(s.receives).status == IBV_WC_SUCCESS);
  CHECK(test::error_of([&] { s.channel.close(); }).code().value() == EBUSY);
  s.left.close();
  s.right.close();
  s.receives.close();  // the event was acknowledged, so nothing keeps it
  s.channel.close();
}

TEST_CASE("solicited events only", "[device]") {
  scene s;
  s.receives.request_notification(true);
  s.send(false);
  CHECK_FALSE(s.channel.wait_for(5ms));
  s.send(true);
  REQUIRE(s.channel.wait_for(5s));
  CHECK(s.channel.get_event() == s.receives.native());
}

TEST_CASE("a sleeping thread is woken by the completion", "[device]") {
  scene s;
  s.receives.request_notification();
  std::atomic<bool> woken{false};
  std::thread sleeper([&] { woken = s.channel.wait_for(10s); });
  std::this_thread::sleep_for(10ms);
  s.send();
  sleeper.join();
  CHECK(woken);
  CHECK(s.channel.get_event() == s.receives.native());
}

TEST_CASE("events that were never taken do not keep a queue from closing", "[device]") {
  scene s;
  s.receives.request_notification();
  s.send();
  REQUIRE(s.channel.wait_for(5s));
  s.left.close();
  s.right.close();
  s.receives.close();
  s.channel.close();
}

TEST_CASE("a wait lasts as long as asked, through signals", "[device]") {
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

TEST_CASE("a queue may grow while completions wait in it", "[device]") {
  scene s;
  for (int i = 0; i < 3; ++i) s.send();
  try {
    s.receives.resize(128);
  } catch (const chorale::error& e) {
    if (e.code() == std::errc::operation_not_supported || e.code() == std::errc::function_not_supported)
      return test::skip(e.what());
    throw;
  }
  CHECK(s.receives.entries() >= 128);
  for (std::uint64_t id = 0; id < 3; ++id) CHECK(next_completion(s.receives).wr_id == id);
  s.send();
  CHECK(next_completion(s.receives).wr_id == 3);
}

TEST_CASE("poll takes what there is and room for", "[device]") {
  scene s;
  for (int i = 0; i < 3; ++i) s.send();
  ibv_wc room[2];
  CHECK(s.receives.poll({}).empty());
  const auto first = s.receives.poll(room);
  REQUIRE(first.size() == 2);
  CHECK(first.data() == room);
  CHECK(first[0].wr_id == 0);
  CHECK(first[1].wr_id == 1);
  const auto rest = s.receives.poll(room);
  REQUIRE(rest.size() == 1);
  CHECK(rest[0].wr_id == 2);
}
