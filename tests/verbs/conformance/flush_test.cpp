// SPDX-License-Identifier: Apache-2.0
// ERR and RESET: which requests are flushed, and which vanish.
#include "scene.hpp"

using namespace conformance;

TEST_CASE("ERR flushes all posted requests, in order, once", "[flush]") {
  rig r;
  const auto type = GENERATE(IBV_QPT_RC, IBV_QPT_UC);
  joined l(r, {.type = type, .right = {.min_rnr_timer = 1}});
  for (std::uint64_t i = 0; i < 5; ++i) receive(l.left, i, {r.piece(0, 8)});
  if (type == IBV_QPT_RC) {
    // The other side has no receive: the first waits, the rest wait behind it.
    for (std::uint64_t i = 0; i < 4; ++i) work(IBV_WR_SEND, {r.piece(0, 8)}).id(10 + i).flags(0).post(l.left);
  }
  l.left.to_error();
  CHECK(l.left.state() == IBV_QPS_ERR);
  for (std::uint64_t i = 0; i < 2; ++i) work(IBV_WR_SEND).id(20 + i).flags(0).post(l.left);
  std::uint64_t receives = 0;
  std::uint64_t sends = type == IBV_QPT_RC ? 10 : 20;
  const std::size_t expected = type == IBV_QPT_RC ? 11 : 7;
  for (std::size_t i = 0; i < expected; ++i) {
    const ibv_wc done = next(l.sends);
    INFO("completion " << i << ", wr_id " << done.wr_id);
    CHECK(done.status == IBV_WC_WR_FLUSH_ERR);
    CHECK(done.qp_num == l.left.number());
    if (done.wr_id < 10) {
      CHECK(done.wr_id == receives++);
    } else {
      CHECK(done.wr_id == sends);
      sends = sends == 13 ? 20 : sends + 1;
    }
  }
  CHECK(receives == 5);
  CHECK(sends == 22);
  CHECK(test::stays_empty(l.sends, quiet));
  if (type == IBV_QPT_RC) CHECK(l.right.state() == IBV_QPS_RTS);  // the peer is not notified
}

TEST_CASE("requests posted in ERR are flushed", "[flush]") {
  rig r;
  const auto type = GENERATE(IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD);
  completion_queue queue(r.device, 16);
  queue_pair pair(r.domain, {.type = type, .send = &queue, .recv = &queue});
  const address_handle way(r.domain, path_to(r.port, r.port.address));
  pair.to_init({.port = r.port.number, .qkey = test::qkey});
  pair.to_error();
  for (std::uint64_t round = 0; round < 3; ++round) {
    work send(IBV_WR_SEND);
    if (type == IBV_QPT_UD) send.to(way, pair.number());
    send.id(round).flags(0).post(pair);
    const ibv_wc sent = next(queue);
    CHECK(sent.status == IBV_WC_WR_FLUSH_ERR);
    CHECK(sent.wr_id == round);
    receive(pair, 10 + round);
    const auto back = all_of(queue);
    if (!holds("a receive that is posted in ERR is flushed", !back.empty(),
               {{"rxe", false,
                 "posting a receive tells the kernel nothing (rxe.c of rdma-core: rxe_post_recv)"}}))
      return;
    REQUIRE(back.size() == 1);
    CHECK(back[0].status == IBV_WC_WR_FLUSH_ERR);
    CHECK(back[0].wr_id == 10 + round);
  }
}

TEST_CASE("RESET drops posted requests, and completions that were not polled", "[flush]") {
  rig r;
  joined l(r, {.right = {.min_rnr_timer = 1}});
  for (std::uint64_t i = 0; i < 5; ++i) receive(l.left, i, {r.piece(0, 8)});
  rdma(r, IBV_WR_RDMA_WRITE, 0, 8).post(l.left);
  CHECK(good(l.sends).wr_id == 1);
  work(IBV_WR_SEND, {r.piece(0, 8)}).id(2).post(l.left);  // waits: there is no receive
  l.left.to_reset();
  CHECK(l.left.state() == IBV_QPS_RESET);
  CHECK(test::stays_empty(l.sends, quiet));
  receive(l.right, 9, {r.piece(remote, 8)});
  CHECK(test::stays_empty(l.arrivals, quiet));
  // The entries are free again: as many receives as at first.
  l.left.to_init({.port = r.port.number, .access = all_access});
  for (std::uint64_t i = 0; i < l.left.recv_depth(); ++i) receive(l.left, i, {r.piece(0, 8)});
}

TEST_CASE("completions that were not polled before RESET", "[flush]") {
  rig r;
  joined l(r);
  rdma(r, IBV_WR_RDMA_WRITE, 0, 8).post(l.left);
  work(IBV_WR_RDMA_READ).at(address(r, remote), r.buffer.rkey()).flags(0).post(l.left);
  // Waits until the write has certainly completed: the peer's message is sent after it.
  receive(l.right, 1);
  work(IBV_WR_SEND).flags(0).post(l.left);
  good(l.arrivals);
  l.left.to_reset();
  holds("RESET removes a queue pair's completions from its queues", all_of(l.sends).empty(),
        {{"rxe", false, "Soft-RoCE leaves them (rxe_qp.c: rxe_qp_reset touches no completion queue)"}});
}

TEST_CASE("a flushed queue pair raises solicited notifications, since errors count as such", "[flush]") {
  rig r;
  completion_channel channel(r.device);
  completion_queue queue(r.device, 16, &channel);
  queue_pair pair(r.domain, {.send = &queue, .recv = &queue});
  pair.to_init({.port = r.port.number});
  receive(pair, 1);
  queue.request_notification(true);
  pair.to_error();
  CHECK(channel.wait_for(60s));
  CHECK(channel.get_event() == queue.native());
  CHECK(next(queue).status == IBV_WC_WR_FLUSH_ERR);
}

TEST_CASE("a destroyed queue pair leaves no completions behind", "[flush]") {
  rig r;
  completion_queue queue(r.device, 16);
  {
    queue_pair pair(r.domain, {.send = &queue, .recv = &queue});
    pair.to_init({.port = r.port.number});
    receive(pair, 1);
    pair.close();  // outstanding requests are no obstacle
  }
  CHECK(test::stays_empty(queue, quiet));
  queue.close();
}
