// What goes wrong goes wrong as on hardware: statuses, states, flushes, events. Both ends in one process.
#include <cerrno>

#include <catch2/catch.hpp>

#include "soft_pair.hpp"

using namespace soft_test;

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
