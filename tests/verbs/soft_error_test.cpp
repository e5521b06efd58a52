// What goes wrong goes wrong as on hardware: statuses, states, flushes, events. Both ends in one process.
#include <poll.h>
#include <sys/mman.h>

#include <catch2/catch.hpp>

#include "soft_support.hpp"

using namespace soft_test;

namespace {

/// Two connected QPs.
struct pair {
  explicit pair(const rc_options& left = {}, const rc_options& right = {}, bool signal_all = false)
      : a(make_qp(here, IBV_QPT_RC, nullptr, 16, signal_all)), b(make_qp(there, IBV_QPT_RC, nullptr, 16)) {
    connect_rc(here, a, b->qp_num, left);
    connect_rc(there, b, a->qp_num, right);
  }
  ~pair() {
    soft().destroy_qp(a);
    if (b != nullptr) soft().destroy_qp(b);
  }
  int write(unsigned bytes, unsigned flags = IBV_SEND_SIGNALED) {
    return post(a, IBV_WR_RDMA_WRITE, {sge(from, 0, bytes)}, flags, to.address(), to.mr->rkey);
  }
  node here;
  node there;
  memory from{here, 65536, true};
  memory to{there, 65536, true};
  ibv_qp* a;
  ibv_qp* b;
};

/// The asynchronous event that is there within a second, acknowledged; -1 if none.
int next_event(node& n) {
  pollfd p{n.context->async_fd, POLLIN, 0};
  if (poll(&p, 1, 1000) != 1) return -1;
  ibv_async_event event{};
  if (soft().get_async_event(n.context, &event) != 0) return -2;
  soft().ack_async_event(&event);
  return static_cast<int>(event.event_type);
}

}  // namespace

TEST_CASE("A request the target does not allow fails at both ends", "[soft]") {
  struct fault {
    const char* name;
    ibv_wc_status status;
    ibv_event_type event;
    std::function<void(pair&)> post_it;
  };
  const auto faults = std::vector<fault>{
      {"wrong rkey", IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR,
       [](pair& l) {
         post(l.a, IBV_WR_RDMA_WRITE, {sge(l.from, 0, 8)}, IBV_SEND_SIGNALED, l.to.address(),
              l.to.mr->rkey ^ 0x5500U);
       }},
      {"the lkey is not the rkey", IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR,
       [](pair& l) {
         post(l.a, IBV_WR_RDMA_WRITE, {sge(l.from, 0, 8)}, IBV_SEND_SIGNALED, l.to.address(), l.to.mr->lkey);
       }},
      {"beyond the end", IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR,
       [](pair& l) {
         post(l.a, IBV_WR_RDMA_READ, {sge(l.from, 0, 9)}, IBV_SEND_SIGNALED, l.to.address() + 65536 - 8,
              l.to.mr->rkey);
       }},
      {"before the beginning", IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR,
       [](pair& l) {
         post(l.a, IBV_WR_RDMA_WRITE, {sge(l.from, 0, 9)}, IBV_SEND_SIGNALED, l.to.address() - 1,
              l.to.mr->rkey);
       }},
      {"address wraps", IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR,
       [](pair& l) {
         post(l.a, IBV_WR_RDMA_WRITE, {sge(l.from, 0, 9)}, IBV_SEND_SIGNALED, ~std::uint64_t{0} - 3,
              l.to.mr->rkey);
       }},
      {"atomic not aligned", IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR,
       [](pair& l) {
         post(l.a, IBV_WR_ATOMIC_FETCH_AND_ADD, {sge(l.from, 0, 8)}, IBV_SEND_SIGNALED, l.to.address() + 4,
              l.to.mr->rkey, 1);
       }},
      {"receive too short", IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR,
       [](pair& l) {
         post_receive(l.b, 9, {sge(l.to, 0, 7)});
         post(l.a, IBV_WR_SEND, {sge(l.from, 0, 8)}, IBV_SEND_SIGNALED);
         const auto wc = wait(l.there.recv_cq);
         CHECK(wc.status == IBV_WC_LOC_LEN_ERR);
         CHECK(wc.wr_id == 9);
       }},
      {"receive with a wrong key", IBV_WC_REM_OP_ERR, IBV_EVENT_QP_FATAL, [](pair& l) {
         post_receive(l.b, 9, {{l.to.address(), 100, l.to.mr->rkey}});
         post(l.a, IBV_WR_SEND, {sge(l.from, 0, 8)}, IBV_SEND_SIGNALED);
         CHECK(wait(l.there.recv_cq).status == IBV_WC_LOC_PROT_ERR);
       }}};
  for (const fault& f : faults) {
    INFO(f.name);
    pair l;
    f.post_it(l);
    CHECK(wait(l.here.send_cq).status == f.status);
    CHECK(state_of(l.a) == IBV_QPS_ERR);
    CHECK(state_of(l.b) == IBV_QPS_ERR);
    CHECK(next_event(l.there) == static_cast<int>(f.event));
    // Everything after is flushed, signalled or not; receives too.
    CHECK(l.write(8, 0) == 0);
    CHECK(wait(l.here.send_cq).status == IBV_WC_WR_FLUSH_ERR);
    CHECK(post_receive(l.b, 4, {sge(l.to, 0, 8)}) == 0);
    const auto flushed = wait(l.there.recv_cq);
    CHECK(flushed.status == IBV_WC_WR_FLUSH_ERR);
    CHECK(flushed.wr_id == 4);
  }
}

TEST_CASE("Rights are those of the QP and those of the region", "[soft]") {
  rc_options only_read;
  only_read.access = IBV_ACCESS_REMOTE_READ;
  {
    pair l({}, only_read);
    CHECK(l.write(8) == 0);
    CHECK(wait(l.here.send_cq).status == IBV_WC_REM_INV_REQ_ERR);
  }
  {
    pair l({}, only_read);
    CHECK(post(l.a, IBV_WR_RDMA_READ, {sge(l.from, 0, 8)}, IBV_SEND_SIGNALED, l.to.address(),
               l.to.mr->rkey) == 0);
    CHECK(wait(l.here.send_cq).status == IBV_WC_SUCCESS);
  }
  {
    pair l;
    const memory readable(l.there, 4096, true, IBV_ACCESS_REMOTE_READ);
    CHECK(post(l.a, IBV_WR_RDMA_WRITE, {sge(l.from, 0, 8)}, IBV_SEND_SIGNALED, readable.address(),
               readable.mr->rkey) == 0);
    CHECK(wait(l.here.send_cq).status == IBV_WC_REM_ACCESS_ERR);
  }
  {
    // Another protection domain's region is none of this QP's.
    pair l;
    ibv_pd* other = soft().alloc_pd(l.there.context);
    ibv_mr* mr = soft().reg_mr(other, l.to.data, 4096, memory::all_rights);
    CHECK(post(l.a, IBV_WR_RDMA_WRITE, {sge(l.from, 0, 8)}, IBV_SEND_SIGNALED, l.to.address(), mr->rkey) ==
          0);
    CHECK(wait(l.here.send_cq).status == IBV_WC_REM_ACCESS_ERR);
    CHECK(soft().dealloc_pd(other) == EBUSY);
    CHECK(soft().dereg_mr(mr) == 0);
    CHECK(soft().dealloc_pd(other) == 0);
  }
  {
    rc_options no_reads;
    no_reads.read_depth = 0;
    pair l({}, no_reads);
    CHECK(post(l.a, IBV_WR_RDMA_READ, {sge(l.from, 0, 8)}, IBV_SEND_SIGNALED, l.to.address(),
               l.to.mr->rkey) == 0);
    CHECK(wait(l.here.send_cq).status == IBV_WC_REM_INV_REQ_ERR);
  }
}

TEST_CASE("Local faults are the requester's alone", "[soft]") {
  pair l;
  CHECK(post(l.a, IBV_WR_RDMA_WRITE, {{l.from.address(), 8, l.from.mr->rkey}}, 0, l.to.address(),
             l.to.mr->rkey) == 0);
  CHECK(wait(l.here.send_cq).status == IBV_WC_LOC_PROT_ERR);
  CHECK(state_of(l.a) == IBV_QPS_ERR);
  CHECK(state_of(l.b) == IBV_QPS_RTS);
  std::vector<ibv_sge> many(17, sge(l.from, 0, 1));
  pair fresh;
  CHECK(post(fresh.a, IBV_WR_SEND, many, 0) == EINVAL);
  CHECK(post(fresh.a, IBV_WR_RDMA_WRITE, {{fresh.from.address(), 4097, 0}}, IBV_SEND_INLINE,
             fresh.to.address(), fresh.to.mr->rkey) == EINVAL);
  CHECK(state_of(fresh.a) == IBV_QPS_RTS);
}

TEST_CASE("Zero bytes need no key; a region of the past opens nothing", "[soft]") {
  pair l;
  CHECK(post(l.a, IBV_WR_RDMA_WRITE, {}, IBV_SEND_SIGNALED, 0, 0) == 0);
  CHECK(wait(l.here.send_cq).status == IBV_WC_SUCCESS);
  std::uint32_t key = 0;
  std::uint64_t where = 0;
  {
    const memory gone(l.there, 4096, true);
    key = gone.mr->rkey;
    where = gone.address();
    CHECK(post(l.a, IBV_WR_RDMA_WRITE, {sge(l.from, 0, 8)}, IBV_SEND_SIGNALED, where, key) == 0);
    CHECK(wait(l.here.send_cq).status == IBV_WC_SUCCESS);
  }
  const memory successor(l.there, 4096, true);
  CHECK(post(l.a, IBV_WR_RDMA_WRITE, {sge(l.from, 0, 8)}, IBV_SEND_SIGNALED, where, key) == 0);
  CHECK(wait(l.here.send_cq).status == IBV_WC_REM_ACCESS_ERR);
}

TEST_CASE("Send queue slots are free when their completion was polled", "[soft]") {
  pair l;
  int posted = 0;
  while (l.write(8, 0) == 0) REQUIRE(++posted <= 16);
  CHECK(posted == 16);
  CHECK(l.write(8, IBV_SEND_SIGNALED) == ENOMEM);
  CHECK(silent(l.here.send_cq, 0.01));

  pair all({}, {}, true);
  for (int i = 0; i < 16; ++i) CHECK(all.write(8, 0) == 0);
  CHECK(all.write(8, 0) == ENOMEM);
  wait(all.here.send_cq);
  CHECK(all.write(8, 0) == 0);
  CHECK(all.write(8, 0) == ENOMEM);
}

TEST_CASE("Without a receive the sender waits, and gives up if told to", "[soft]") {
  {
    pair l;
    CHECK(post(l.a, IBV_WR_SEND, {sge(l.from, 0, 8)}, IBV_SEND_SIGNALED) == 0);
    // Later requests stay behind it.
    std::memset(l.from.data, 7, 8);
    CHECK(l.write(8) == 0);
    CHECK(silent(l.here.send_cq, 0.05));
    CHECK(l.to.data[0] == 0);
    CHECK(post_receive(l.b, 1, {sge(l.to, 100, 8)}) == 0);
    CHECK(wait(l.here.send_cq).opcode == IBV_WC_SEND);
    CHECK(wait(l.here.send_cq).opcode == IBV_WC_RDMA_WRITE);
    CHECK(wait(l.there.recv_cq).wr_id == 1);
    CHECK(l.to.data[0] == 7);
  }
  {
    rc_options impatient;
    impatient.rnr_retry = 2;
    pair l(impatient);
    CHECK(post(l.a, IBV_WR_SEND, {sge(l.from, 0, 8)}, 0) == 0);
    CHECK(l.write(8, 0) == 0);
    CHECK(wait(l.here.send_cq).status == IBV_WC_RNR_RETRY_EXC_ERR);
    CHECK(wait(l.here.send_cq).status == IBV_WC_WR_FLUSH_ERR);
    CHECK(state_of(l.b) == IBV_QPS_RTS);
  }
}

TEST_CASE("An absent target is silence", "[soft]") {
  rc_options quick;
  quick.timeout = 8;
  quick.retry = 1;
  pair l(quick);
  soft().destroy_qp(l.b);
  l.b = nullptr;
  CHECK(l.write(8) == 0);
  CHECK(l.write(8, 0) == 0);
  CHECK(wait(l.here.send_cq).status == IBV_WC_RETRY_EXC_ERR);
  CHECK(wait(l.here.send_cq).status == IBV_WC_WR_FLUSH_ERR);
  CHECK(state_of(l.a) == IBV_QPS_ERR);
}

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
