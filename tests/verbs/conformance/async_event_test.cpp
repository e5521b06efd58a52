// SPDX-License-Identifier: Apache-2.0
// Asynchronous events of queue pairs. (Those of shared receive queues and completion queues are tested with
// these.)
#include "async.hpp"

using namespace conformance;

namespace {

constexpr const char* silent = "Soft-RoCE raises no events of failing queue pairs (rxe_qp.c: rxe_qp_error)";

}  // namespace

TEST_CASE("a responder that refuses a request gets an event with the reason for its ERR state", "[event]") {
  rig r;
  joined l(r);
  SECTION("keys and bounds") {
    work(IBV_WR_RDMA_WRITE, {r.piece(0, 8)}).at(address(r, remote), r.buffer.rkey() + 0x100).post(l.left);
    CHECK(next(l.sends).status == IBV_WC_REM_ACCESS_ERR);
    holds("a request with a bad key raises QP_ACCESS_ERR",
          seen_event(r, IBV_EVENT_QP_ACCESS_ERR, l.right.native()), {{"rxe", false, silent}});
  }
  SECTION("a request that is not allowed") {
    ibv_qp_attr a{};
    a.qp_access_flags = 0;
    REQUIRE(l.right.provider().modify_qp(l.right.native(), &a, IBV_QP_ACCESS_FLAGS) == 0);
    rdma(r, IBV_WR_RDMA_WRITE, 0, 8).post(l.left);
    CHECK(next(l.sends).status == IBV_WC_REM_INV_REQ_ERR);
    holds("a request that the queue pair does not allow raises QP_REQ_ERR",
          seen_event(r, IBV_EVENT_QP_REQ_ERR, l.right.native()), {{"rxe", false, silent}});
  }
  SECTION("its own fault") {
    ibv_sge bad = r.piece(remote, 64);
    bad.lkey += 0x100;
    receive(l.right, 1, {bad});
    work(IBV_WR_SEND, {r.piece(0, 8)}).post(l.left);
    CHECK(next(l.sends).status == IBV_WC_REM_OP_ERR);
    holds("a receive that cannot be filled raises QP_FATAL",
          seen_event(r, IBV_EVENT_QP_FATAL, l.right.native()), {{"rxe", false, silent}});
  }
  CHECK_FALSE(next_event(r, quiet));  // once
}

TEST_CASE("a requester learns of its faults by completions only", "[event]") {
  rig r;
  joined l(r, {.left = {.rnr_retry = 0}, .right = {.min_rnr_timer = 1}});
  work(IBV_WR_SEND, {r.piece(0, 8)}).post(l.left);
  CHECK(next(l.sends).status == IBV_WC_RNR_RETRY_EXC_ERR);
  CHECK_FALSE(next_event(r, quiet));
  l.right.to_error();  // nor does a queue pair that its program moves to ERR
  CHECK_FALSE(next_event(r, quiet));
}

TEST_CASE("a drained send queue raises an event if requested", "[event]") {
  rig r;
  joined l(r);
  ibv_qp_attr a{};
  const auto go = [&](ibv_qp_state to, int mask) {
    a.qp_state = to;
    return errno_of(l.left.provider().modify_qp(l.left.native(), &a, mask | IBV_QP_STATE));
  };
  a.en_sqd_async_notify = 1;
  REQUIRE(go(IBV_QPS_SQD, IBV_QP_EN_SQD_ASYNC_NOTIFY) == 0);
  const auto event = next_event(r);
  REQUIRE(event);
  CHECK(event->type == IBV_EVENT_SQ_DRAINED);
  CHECK(event->object == l.left.native());
  CHECK(event->qp_number == l.left.number());
  REQUIRE(go(IBV_QPS_RTS, 0) == 0);
  a.en_sqd_async_notify = 0;
  REQUIRE(go(IBV_QPS_SQD, IBV_QP_EN_SQD_ASYNC_NOTIFY) == 0);
  holds("a drained send queue is not announced to who did not ask", !next_event(r, quiet),
        {{"rxe", false, "Soft-RoCE always raises SQ_DRAINED (rxe_req.c: req_next_wqe)"}});
}

TEST_CASE("the last receive of a queue pair on a shared queue raises an event", "[event]") {
  rig r;
  shared_receive_queue srq(r.domain, 16);
  joined l(r, {.srq = &srq});
  receive(srq, 1, {r.piece(remote, 8)});
  l.right.to_error();
  holds("a queue pair on a shared receive queue that goes to ERR raises QP_LAST_WQE_REACHED",
        seen_event(r, IBV_EVENT_QP_LAST_WQE_REACHED, l.right.native()),
        {{"rxe", false, "Soft-RoCE of Linux 6.1 never raises it (rxe_resp.c: check_resource)"}});
  CHECK_FALSE(next_event(r, quiet));
  CHECK(test::stays_empty(l.arrivals, 1ms));  // the shared receives are not flushed with this queue pair
  // They serve another queue pair.
  joined other(r, {.srq = &srq});
  work(IBV_WR_SEND, {r.piece(0, 8)}).post(other.left);
  CHECK(good(other.arrivals).wr_id == 1);
}

TEST_CASE("events that were not taken do not keep an object from closing", "[event]") {
  rig r;
  joined l(r);
  work(IBV_WR_RDMA_WRITE, {r.piece(0, 8)}).at(address(r, remote), r.buffer.rkey() + 0x100).post(l.left);
  CHECK(next(l.sends).status == IBV_WC_REM_ACCESS_ERR);
  CHECK(settled(l.right, IBV_QPS_ERR) == IBV_QPS_ERR);
  const void* const gone = l.right.native();
  l.right.close();
  while (const auto event = next_event(r, quiet)) CHECK(event->object != gone);
}
