// QP states, completion queues and registration, in one process.
#include <cerrno>
#include <sys/mman.h>

#include <catch2/catch.hpp>

#include "soft_pair.hpp"

using namespace soft_test;

TEST_CASE("QP states are entered with their attributes only", "[soft]") {
  node n;
  ibv_qp* qp = make_qp(n, IBV_QPT_RC);
  ibv_qp_attr a{};
  const auto to = [&](ibv_qp_state s, int mask) {
    a.qp_state = s;
    return soft().modify_qp(qp, &a, IBV_QP_STATE | mask);
  };
  a.port_num = 1;
  CHECK(to(IBV_QPS_RTR, 0) == EINVAL);
  CHECK(to(IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT) == EINVAL);
  CHECK(to(IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS | IBV_QP_QKEY) == EINVAL);
  a.port_num = 2;
  CHECK(to(IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == EINVAL);
  a.port_num = 1;
  CHECK(post_receive(qp, 1, {}) == EINVAL);
  CHECK(to(IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0);
  CHECK(post_receive(qp, 1, {}) == 0);
  CHECK(post(qp, IBV_WR_SEND, {}, 0) == EINVAL);
  CHECK(to(IBV_QPS_RTS, 0) == EINVAL);
  CHECK(to(IBV_QPS_ERR, 0) == 0);
  CHECK(wait(n.recv_cq).status == IBV_WC_WR_FLUSH_ERR);
  CHECK(to(IBV_QPS_RESET, 0) == 0);
  rc_options o;
  o.timeout = 11;
  o.rnr_retry = 3;
  connect_rc(n, qp, qp->qp_num, o);  // to itself
  ibv_qp_init_attr init{};
  CHECK(soft().query_qp(qp, &a, 0, &init) == 0);
  CHECK(a.qp_state == IBV_QPS_RTS);
  CHECK(a.timeout == 11);
  CHECK(a.rnr_retry == 3);
  CHECK(a.dest_qp_num == qp->qp_num);
  CHECK(a.path_mtu == IBV_MTU_4096);
  CHECK(init.cap.max_inline_data == 4096);
  {
    memory m(n, 4096, true);
    CHECK(post(qp, IBV_WR_RDMA_WRITE, {sge(m, 0, 8)}, IBV_SEND_SIGNALED, m.address() + 64, m.mr->rkey) == 0);
    CHECK(wait(n.send_cq).status == IBV_WC_SUCCESS);
    // Drained: posted, but not executed.
    CHECK(to(IBV_QPS_SQD, 0) == 0);
    m.data[0] = 5;
    CHECK(post(qp, IBV_WR_RDMA_WRITE, {sge(m, 0, 8)}, IBV_SEND_SIGNALED, m.address() + 64, m.mr->rkey) == 0);
    CHECK(silent(n.send_cq, 0.02));
    CHECK(m.data[64] == 0);
    CHECK(to(IBV_QPS_RTS, 0) == 0);
    CHECK(wait(n.send_cq).status == IBV_WC_SUCCESS);
    CHECK(m.data[64] == 5);
    // RESET takes what was not polled away with it.
    CHECK(post(qp, IBV_WR_RDMA_WRITE, {sge(m, 0, 8)}, IBV_SEND_SIGNALED, m.address() + 64, m.mr->rkey) == 0);
    CHECK(to(IBV_QPS_RESET, 0) == 0);
    CHECK(silent(n.send_cq, 0.01));
  }
  CHECK(soft().destroy_cq(n.send_cq) == EBUSY);
  CHECK(soft().destroy_qp(qp) == 0);
}

TEST_CASE("A completion queue that overruns is dead, and so are its QPs", "[soft]") {
  node n(16);
  node m(64);
  memory data(n, 4096, true);
  memory target(m, 4096, true);
  ibv_qp* a = make_qp(n, IBV_QPT_RC);
  ibv_qp* b = make_qp(m, IBV_QPT_RC);
  connect_rc(n, a, b->qp_num);
  connect_rc(m, b, a->qp_num);
  for (int i = 0; i < 17; ++i)
    CHECK(post(a, IBV_WR_RDMA_WRITE, {sge(data, 0, 8)}, IBV_SEND_SIGNALED, target.address(),
               target.mr->rkey) == 0);
  CHECK(next_event(n) == static_cast<int>(IBV_EVENT_CQ_ERR));
  CHECK(next_event(n) == static_cast<int>(IBV_EVENT_QP_FATAL));
  CHECK(state_of(a) == IBV_QPS_ERR);
  ibv_wc wc[32];
  CHECK(ibv_poll_cq(n.send_cq, 32, wc) == 16);
  CHECK(ibv_poll_cq(n.send_cq, 32, wc) < 0);
  soft().destroy_qp(a);
  soft().destroy_qp(b);
}

TEST_CASE("A completion queue keeps its entries when it is resized", "[soft]") {
  pair l;
  for (int i = 0; i < 10; ++i) CHECK(l.write(8) == 0);
  CHECK(soft().resize_cq(l.here.send_cq, 4) == EINVAL);
  CHECK(soft().resize_cq(l.here.send_cq, 16) == 0);
  CHECK(l.here.send_cq->cqe == 16);
  CHECK(l.write(8) == 0);
  for (int i = 0; i < 11; ++i) CHECK(wait(l.here.send_cq).status == IBV_WC_SUCCESS);
  CHECK(soft().resize_cq(l.here.send_cq, 300) == 0);
  for (int round = 0; round < 50; ++round) {
    CHECK(l.write(8) == 0);
    CHECK(wait(l.here.send_cq).status == IBV_WC_SUCCESS);
  }
  CHECK(silent(l.here.send_cq, 0.005));
}

TEST_CASE("Only memory that is there can be registered", "[soft]") {
  node n;
  void* hole = mmap(nullptr, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(hole != MAP_FAILED);
  munmap(static_cast<char*>(hole) + 4096, 4096);
  CHECK(soft().reg_mr(n.pd, hole, 12288, IBV_ACCESS_LOCAL_WRITE) == nullptr);
  CHECK(errno == EFAULT);
  mprotect(hole, 4096, PROT_READ);
  CHECK(soft().reg_mr(n.pd, hole, 4096, IBV_ACCESS_LOCAL_WRITE) == nullptr);
  CHECK(errno == EFAULT);
  ibv_mr* readable = soft().reg_mr(n.pd, hole, 4096, IBV_ACCESS_REMOTE_READ);
  CHECK(readable != nullptr);
  CHECK(soft().reg_mr(n.pd, hole, 4096, IBV_ACCESS_REMOTE_WRITE) == nullptr);
  CHECK(errno == EINVAL);
  if (readable != nullptr) {
    CHECK(readable->lkey != readable->rkey);
    CHECK(soft().dereg_mr(readable) == 0);
  }
  munmap(hole, 4096);
  munmap(static_cast<char*>(hole) + 8192, 8192);
}
