// SPDX-License-Identifier: Apache-2.0
// Completion queues: polling, overrun, resizing.
#include "../../../lib/verbs/async_event.hpp"
#include "async.hpp"
#include "scene.hpp"

using namespace conformance;

TEST_CASE("poll returns as many completions as there are and fit", "[completion queue]") {
  rig r;
  joined l(r);
  for (std::uint64_t id = 0; id < 3; ++id) receive(l.right, id);
  for (int i = 0; i < 3; ++i) work(IBV_WR_SEND).post(l.left);
  for (int i = 0; i < 3; ++i) good(l.sends);
  const auto arrived = [&] {  // all three are there, or will be soon
    std::vector<ibv_wc> found;
    ibv_wc room[2];
    CHECK(l.arrivals.poll({}).empty());
    const auto end = chorale::clock::now() + 60s;
    while (found.size() < 3 && chorale::clock::now() < end) {
      const auto some = l.arrivals.poll(room);
      CHECK(some.size() <= 2);
      CHECK(some.data() == room);
      found.insert(found.end(), some.begin(), some.end());
    }
    return found;
  }();
  REQUIRE(arrived.size() == 3);
  for (std::uint64_t id = 0; id < 3; ++id) CHECK(arrived[id].wr_id == id);
  CHECK(test::stays_empty(l.arrivals, 1ms));
}

TEST_CASE("a completion queue that overruns fails, and so do its queue pairs", "[completion queue]") {
  rig r;
  joined l(r, {.send_depth = 256, .entries = 16});
  const int entries = l.sends.entries();
  CHECK(entries >= 16);
  for (int i = 0; i < 2 * entries + 2; ++i) rdma(r, IBV_WR_RDMA_WRITE, 0, 8).post(l.left);
  const auto event = next_event(r);
  REQUIRE(event);
  CHECK(event->type == IBV_EVENT_CQ_ERR);
  CHECK(event->object == l.sends.native());
  holds("a queue pair whose completion queue overran gets QP_FATAL", seen_event(r, IBV_EVENT_QP_FATAL),
        {{"rxe", false, "Soft-RoCE drops the completion and goes on (rxe_comp.c ignores rxe_cq_post)"}});
  conforms("a queue pair whose completion queue overran is in ERR", l.left.state(), IBV_QPS_ERR,
           {{"rxe", IBV_QPS_RTS, "Soft-RoCE drops the completion and goes on (rxe_comp.c)"}});
  // Completions before the overrun are still there.
  int polled = 0;
  bool broken = false;
  try {
    for (ibv_wc one{}; polled <= 4 * entries && !l.sends.poll({&one, 1}).empty(); ++polled)
      CHECK(one.status == IBV_WC_SUCCESS);
  } catch (const chorale::error&) {
    broken = true;
  }
  CHECK(polled >= entries);
  holds("a completion queue that overran reports an error when it is empty", broken,
        {{"rxe", false, "Soft-RoCE's queue goes on after an overrun (rxe_cq.c: rxe_cq_post)"}});
}

TEST_CASE("a completion queue that is full to the last entry still works", "[completion queue]") {
  rig r;
  joined l(r, {.send_depth = 256, .entries = 16});
  const int entries = l.sends.entries();
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < entries; ++i)
      rdma(r, IBV_WR_RDMA_WRITE, 0, 8).id(static_cast<std::uint64_t>(i)).post(l.left);
    // All have completed when a message posted after them on the other queue has arrived.
    receive(l.right, 1);
    work(IBV_WR_SEND).flags(0).post(l.left);
    good(l.arrivals);
    for (int i = 0; i < entries; ++i) CHECK(good(l.sends).wr_id == static_cast<std::uint64_t>(i));
  }
  CHECK_FALSE(next_event(r, quiet));
}

TEST_CASE("each polled completion makes room for one", "[completion queue]") {
  rig r;
  joined l(r, {.send_depth = 256, .entries = 16});
  const auto entries = static_cast<std::uint64_t>(l.sends.entries());
  for (std::uint64_t id = 0; id < entries; ++id) rdma(r, IBV_WR_RDMA_WRITE, 0, 8).id(id).post(l.left);
  for (std::uint64_t id = 0; id < 3 * entries; ++id) {
    CHECK(good(l.sends).wr_id == id);
    rdma(r, IBV_WR_RDMA_WRITE, 0, 8).id(entries + id).post(l.left);
  }
  for (std::uint64_t id = 3 * entries; id < 4 * entries; ++id) CHECK(good(l.sends).wr_id == id);
  CHECK_FALSE(next_event(r, quiet));
}

TEST_CASE("a completion queue keeps its entries when it is resized", "[completion queue]") {
  rig r;
  joined l(r, {.send_depth = 64, .entries = 32});
  for (std::uint64_t id = 0; id < 20; ++id) rdma(r, IBV_WR_RDMA_WRITE, 0, 8).id(id).post(l.left);
  receive(l.right, 1);
  work(IBV_WR_SEND).flags(0).post(l.left);
  good(l.arrivals);
  try {
    l.sends.resize(100);
  } catch (const chorale::error& e) {
    if (e.code() == std::errc::operation_not_supported || e.code() == std::errc::function_not_supported)
      return skip(e.what());
    throw;
  }
  CHECK(l.sends.entries() >= 100);
  for (std::uint64_t id = 20; id < 30; ++id) rdma(r, IBV_WR_RDMA_WRITE, 0, 8).id(id).post(l.left);
  for (std::uint64_t id = 0; id < 25; ++id) CHECK(good(l.sends).wr_id == id);
  receive(l.right, 1);
  work(IBV_WR_SEND).flags(0).post(l.left);
  good(l.arrivals);
  l.sends.resize(8);
  for (std::uint64_t id = 25; id < 30; ++id) CHECK(good(l.sends).wr_id == id);
  for (std::uint64_t id = 30; id < 80; ++id) {
    rdma(r, IBV_WR_RDMA_WRITE, 0, 8).id(id).post(l.left);
    CHECK(good(l.sends).wr_id == id);
  }
}

TEST_CASE("a completion queue does not shrink below its number of entries", "[completion queue]") {
  rig r;
  completion_channel channel(r.device);
  joined l(r, {.entries = 16, .channel = &channel});
  for (std::uint64_t id = 0; id < 5; ++id) {
    // The event shows that the completion is there without taking it.
    l.arrivals.request_notification();
    rdma(r, IBV_WR_RDMA_WRITE, 0, 8).id(id).post(l.right);
    REQUIRE(channel.wait_for(30s));
    channel.get_event();
  }
  const int failure = test::error_of([&] { l.arrivals.resize(2); }).code().value();
  if (failure == EOPNOTSUPP || failure == ENOSYS) return skip("its completion queues cannot be resized");
  CHECK(failure == EINVAL);
  for (std::uint64_t id = 0; id < 5; ++id) CHECK(good(l.arrivals).wr_id == id);
}

TEST_CASE("a completion queue that is in use stays open", "[completion queue]") {
  rig r;
  completion_queue queue(r.device, 16);
  queue_pair pair(r.domain, {.type = IBV_QPT_RC, .send = &queue, .recv = &queue});
  CHECK(test::error_of([&] { queue.close(); }).code().value() == EBUSY);
  CHECK(queue.native() != nullptr);
  pair.close();
  queue.close();
  CHECK(test::error_of([&] { completion_queue(r.device, 0); }).code().value() == EINVAL);
}
