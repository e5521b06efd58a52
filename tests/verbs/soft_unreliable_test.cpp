// Unreliable connections of the software device: deliverable messages arrive as on RC, others are lost
// silently.
#include <cerrno>
#include <numeric>

#include <catch2/catch.hpp>

#include "soft_pair.hpp"

using namespace soft_test;

namespace {

/// RESET to RTS.
void connect_uc(node& n, ibv_qp* qp, std::uint32_t remote, int access = memory::all_rights) {
  ibv_qp_attr a{};
  a.qp_state = IBV_QPS_INIT;
  a.port_num = 1;
  a.qp_access_flags = static_cast<unsigned>(access);
  REQUIRE(soft().modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) ==
          0);
  a.qp_state = IBV_QPS_RTR;
  a.path_mtu = IBV_MTU_1024;
  a.dest_qp_num = remote;
  a.ah_attr.dlid = n.lid;
  a.ah_attr.port_num = 1;
  REQUIRE(soft().modify_qp(
              qp, &a, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN) == 0);
  a.qp_state = IBV_QPS_RTS;
  REQUIRE(soft().modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN) == 0);
}

struct uc_pair {
  explicit uc_pair(int target_access = memory::all_rights)
      : a(make_qp(here, IBV_QPT_UC)), b(make_qp(there, IBV_QPT_UC)) {
    connect_uc(here, a, b->qp_num);
    connect_uc(there, b, a->qp_num, target_access);
    std::iota(from.data, from.data + from.bytes, static_cast<unsigned char>(1));
  }
  ~uc_pair() {
    soft().destroy_qp(a);
    soft().destroy_qp(b);
  }
  /// Posts a signalled request and polls its completion.
  ibv_wc_status request(ibv_wr_opcode opcode, std::size_t bytes, std::uint64_t to_address = 0,
                        std::uint32_t rkey = 0) {
    REQUIRE(post(a, opcode, {sge(from, 0, bytes)}, IBV_SEND_SIGNALED, to_address, rkey) == 0);
    return wait(here.send_cq).status;
  }
  node here;
  node there;
  memory from{here, 65536, true};
  memory to{there, 65536, true};
  ibv_qp* a;
  ibv_qp* b;
};

}  // namespace

TEST_CASE("An unreliable connection writes and sends", "[soft]") {
  uc_pair l;
  CHECK(l.request(IBV_WR_RDMA_WRITE, 5000, l.to.address() + 3, l.to.mr->rkey) == IBV_WC_SUCCESS);
  CHECK(std::memcmp(l.to.data + 3, l.from.data, 5000) == 0);
  REQUIRE(post_receive(l.b, 7, {sge(l.to, 10000, 6000)}) == 0);
  CHECK(l.request(IBV_WR_SEND, 6000) == IBV_WC_SUCCESS);
  const auto got = wait(l.there.recv_cq);
  CHECK(got.status == IBV_WC_SUCCESS);
  CHECK(got.wr_id == 7);
  CHECK(got.byte_len == 6000);
  CHECK(std::memcmp(l.to.data + 10000, l.from.data, 6000) == 0);
  REQUIRE(post_receive(l.b, 8, {}) == 0);
  CHECK(l.request(IBV_WR_RDMA_WRITE_WITH_IMM, 100, l.to.address() + 20000, l.to.mr->rkey) == IBV_WC_SUCCESS);
  const auto notified = wait(l.there.recv_cq);
  CHECK(notified.opcode == IBV_WC_RECV_RDMA_WITH_IMM);
  CHECK(std::memcmp(l.to.data + 20000, l.from.data, 100) == 0);
}

TEST_CASE("What an unreliable connection cannot deliver is lost, and no queue pair fails", "[soft]") {
  uc_pair l;
  CHECK(l.request(IBV_WR_SEND, 100) == IBV_WC_SUCCESS);  // no receive
  CHECK(l.request(IBV_WR_RDMA_WRITE, 8, l.to.address(), l.to.mr->rkey ^ 0x5500U) == IBV_WC_SUCCESS);
  CHECK(l.request(IBV_WR_RDMA_WRITE, 8, l.to.address() + 65536 - 7, l.to.mr->rkey) == IBV_WC_SUCCESS);
  REQUIRE(post_receive(l.b, 1, {sge(l.to, 0, 50)}) == 0);
  CHECK(l.request(IBV_WR_SEND, 51) == IBV_WC_SUCCESS);  // too long: the receive stays
  CHECK(silent(l.there.recv_cq, 0.05));
  CHECK(l.request(IBV_WR_SEND, 50) == IBV_WC_SUCCESS);
  CHECK(wait(l.there.recv_cq).wr_id == 1);
  CHECK(state_of(l.a) == IBV_QPS_RTS);
  CHECK(state_of(l.b) == IBV_QPS_RTS);

  uc_pair closed(IBV_ACCESS_LOCAL_WRITE);
  CHECK(closed.request(IBV_WR_RDMA_WRITE, 8, closed.to.address(), closed.to.mr->rkey) == IBV_WC_SUCCESS);
  CHECK(closed.to.data[0] == 0);
}

TEST_CASE("Requests of an unreliable connection without a peer complete at once", "[soft]") {
  uc_pair l;
  ibv_qp_attr a{};
  a.qp_state = IBV_QPS_RESET;
  REQUIRE(soft().modify_qp(l.b, &a, IBV_QP_STATE) == 0);
  CHECK(l.request(IBV_WR_SEND, 100) == IBV_WC_SUCCESS);
}

TEST_CASE("A local fault stops the send queue of an unreliable connection, which can be restarted",
          "[soft]") {
  uc_pair l;
  REQUIRE(post(l.a, IBV_WR_RDMA_WRITE, {{l.from.address(), 8, l.from.mr->lkey ^ 0x5500U}}, IBV_SEND_SIGNALED,
               l.to.address(), l.to.mr->rkey) == 0);
  CHECK(wait(l.here.send_cq).status == IBV_WC_LOC_PROT_ERR);
  CHECK(state_of(l.a) == IBV_QPS_SQE);
  CHECK(l.request(IBV_WR_SEND, 8) == IBV_WC_WR_FLUSH_ERR);
  ibv_qp_attr a{};
  a.qp_state = IBV_QPS_RTS;
  REQUIRE(soft().modify_qp(l.a, &a, IBV_QP_STATE) == 0);
  REQUIRE(post_receive(l.b, 1, {sge(l.to, 0, 50)}) == 0);
  CHECK(l.request(IBV_WR_SEND, 8) == IBV_WC_SUCCESS);
  CHECK(wait(l.there.recv_cq).wr_id == 1);
}

TEST_CASE("An unreliable connection has neither reads nor atomics", "[soft]") {
  uc_pair l;
  CHECK(post(l.a, IBV_WR_RDMA_READ, {sge(l.from, 0, 8)}, 0, l.to.address(), l.to.mr->rkey) == EINVAL);
  CHECK(post(l.a, IBV_WR_ATOMIC_FETCH_AND_ADD, {sge(l.from, 0, 8)}, 0, l.to.address(), l.to.mr->rkey, 1) ==
        EINVAL);
}
