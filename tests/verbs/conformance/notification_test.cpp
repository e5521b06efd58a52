// SPDX-License-Identifier: Apache-2.0
// Wake-ups by completions: arming, solicited events, and what raises none.
#include "beside.hpp"
#include "scene.hpp"

using namespace conformance;

namespace {

/// A connection; completions of its right end raise events.
struct scene : rig {
  scene() : channel(device), l(*this, {.channel = &channel}) {
    for (std::uint64_t id = 0; id < 12; ++id) receive(l.right, id);
  }
  /// When this returns the completion is in the armed queue: its effect is awaited.
  void send(bool solicited = false, ibv_wr_opcode opcode = IBV_WR_SEND) {
    work one = opcode == IBV_WR_SEND ? work(opcode) : rdma(*this, opcode, 0, 8);
    one.flags(unsigned{IBV_SEND_SIGNALED} | (solicited ? unsigned{IBV_SEND_SOLICITED} : 0U)).post(l.left);
    good(l.sends);
  }
  bool readable(std::chrono::milliseconds longest) const { return channel.wait_for(longest); }
  completion_channel channel;
  joined l;
};

}  // namespace

TEST_CASE("an armed queue raises one event for the next completion", "[notification]") {
  scene s;
  CHECK_FALSE(s.readable(0ms));
  s.send();
  CHECK_FALSE(s.readable(quiet));  // not armed
  s.l.arrivals.request_notification();
  CHECK_FALSE(s.readable(quiet));  // armed after the completion came
  s.send();
  REQUIRE(s.readable(60s));
  CHECK(s.channel.get_event() == s.l.arrivals.native());
  CHECK_FALSE(s.readable(0ms));
  s.send();
  CHECK_FALSE(s.readable(quiet));  // one event per arming
  for (std::uint64_t id = 0; id < 3; ++id) CHECK(good(s.l.arrivals).wr_id == id);
  s.l.arrivals.request_notification();
  s.l.arrivals.request_notification();  // twice is once
  s.send();
  s.send();
  REQUIRE(s.readable(60s));
  CHECK(s.channel.get_event() == s.l.arrivals.native());
  CHECK_FALSE(s.readable(quiet));
  CHECK(test::error_of([&] { s.channel.close(); }).code().value() == EBUSY);
  s.l.left.close();
  s.l.right.close();
  s.l.arrivals.close();  // both events were acknowledged, so nothing keeps it
  s.channel.close();
}

TEST_CASE("solicited arming waits for a solicited completion", "[notification]") {
  scene s;
  s.l.arrivals.request_notification(true);
  s.send(false);
  s.send(false, IBV_WR_RDMA_WRITE_WITH_IMM);
  s.send(true, IBV_WR_RDMA_WRITE);  // has no completion at the other end to solicit
  CHECK_FALSE(s.readable(quiet));
  s.send(true);
  REQUIRE(s.readable(60s));
  CHECK(s.channel.get_event() == s.l.arrivals.native());
  s.l.arrivals.request_notification(true);
  s.send(true, IBV_WR_RDMA_WRITE_WITH_IMM);
  REQUIRE(s.readable(60s));
  CHECK(s.channel.get_event() == s.l.arrivals.native());
}

TEST_CASE("arming for all is not undone by arming for solicited", "[notification]") {
  scene s;
  s.l.arrivals.request_notification(false);
  s.l.arrivals.request_notification(true);
  s.send(false);
  CHECK(s.readable(60s));
}

TEST_CASE("a failed completion counts as solicited", "[notification]") {
  scene s;
  s.l.arrivals.request_notification(true);
  work(IBV_WR_RDMA_WRITE, {s.piece(0, 8)}).at(address(s, remote), s.buffer.rkey() + 0x100).post(s.l.left);
  CHECK(next(s.l.sends).status == IBV_WC_REM_ACCESS_ERR);
  CHECK(s.readable(60s));  // flushed receives
}

TEST_CASE("unsignalled sends raise nothing", "[notification]") {
  rig r;
  completion_channel channel(r.device);
  completion_queue queue(r.device, 32, &channel);
  completion_queue other(r.device, 32);
  queue_pair left(r.domain, {.send = &queue, .recv = &queue});
  queue_pair right(r.domain, {.send = &other, .recv = &other});
  r.connect(left, right);
  r.connect(right, left);
  queue.request_notification();
  rdma(r, IBV_WR_RDMA_WRITE, 0, 8).flags(0).post(left);
  CHECK_FALSE(channel.wait_for(quiet));
  rdma(r, IBV_WR_RDMA_WRITE, 0, 8).post(left);
  CHECK(channel.wait_for(60s));
}

TEST_CASE("one channel serves several queues, and names the queue of each event", "[notification]") {
  rig r;
  completion_channel channel(r.device);
  joined first(r, {.channel = &channel});
  joined second(r, {.channel = &channel});
  for (joined* l : {&second, &first, &second}) {
    l->arrivals.request_notification();
    receive(l->right, 1);
    work(IBV_WR_SEND).post(l->left);
    good(l->sends);
    REQUIRE(channel.wait_for(60s));
    CHECK(channel.get_event() == l->arrivals.native());
    good(l->arrivals);
  }
  CHECK_FALSE(channel.wait_for(quiet));
}

TEST_CASE("a sleeping thread is woken by each completion it armed for", "[notification]") {
  scene s;
  int woken = 0;
  beside sleeper([&] {
    // The sequence that loses no wake-up: arm, poll, sleep.
    ibv_wc room[4];
    const auto end = chorale::clock::now() + 60s;
    while (woken < 10 && chorale::clock::now() < end) {
      s.l.arrivals.request_notification();
      const auto found = s.l.arrivals.poll(room);
      woken += static_cast<int>(found.size());
      if (found.empty() && s.channel.wait_for(60s)) s.channel.get_event();
    }
  });
  for (int i = 0; i < 10; ++i) s.send();
  sleeper.join();
  CHECK(woken == 10);
}

TEST_CASE("events that were never taken do not keep a queue from closing", "[notification]") {
  rig r;
  completion_channel channel(r.device);
  {
    joined l(r, {.channel = &channel});
    receive(l.right, 1);
    l.arrivals.request_notification();
    work(IBV_WR_SEND).post(l.left);
    REQUIRE(channel.wait_for(60s));
  }
  channel.close();
}
