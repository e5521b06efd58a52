// SPDX-License-Identifier: Apache-2.0
// UC: undeliverable messages are lost, the sender is not notified, and the connection still works.
#include <algorithm>
#include <cstring>

#include "scene.hpp"

using namespace conformance;

namespace {

/// Checks that the connection carries messages in both directions.
void still_works(rig& r, joined& l) {
  INFO("after the fault");
  CHECK(l.left.state() == IBV_QPS_RTS);
  CHECK(l.right.state() == IBV_QPS_RTS);
  std::strcpy(reinterpret_cast<char*>(r.buffer.data() + 8192), "still here");
  receive(l.right, 77, {r.piece(remote + 8192, 64)});
  work(IBV_WR_SEND, {r.piece(8192, 11)}).post(l.left);
  CHECK(good(l.arrivals).wr_id == 77);
  good(l.sends);
  CHECK(std::strcmp(reinterpret_cast<const char*>(r.buffer.data() + remote + 8192), "still here") == 0);
  receive(l.left, 78, {r.piece(0, 64)});
  work(IBV_WR_SEND, {r.piece(8192, 11)}).post(l.right);
  CHECK(good(l.sends).wr_id == 78);
  good(l.arrivals);
}

}  // namespace

TEST_CASE("an unreliable write that the target refuses vanishes", "[unreliable]") {
  rig r;
  joined l(r, {.type = IBV_QPT_UC});
  fill(r.buffer.span().first(16384), 1);
  SECTION("wrong key") {
    work(IBV_WR_RDMA_WRITE, {r.piece(0, 64)}).at(address(r, remote), r.buffer.rkey() + 0x100).post(l.left);
  }
  SECTION("out of bounds") {
    rdma(r, IBV_WR_RDMA_WRITE, 0, 64, r.buffer.bytes() - 63).post(l.left);
  }
  SECTION("several packets, all with a wrong key") {
    work(IBV_WR_RDMA_WRITE, {r.piece(0, 10'000)})
        .at(address(r, remote), r.buffer.rkey() + 0x100)
        .post(l.left);
  }
  SECTION("not allowed") {
    ibv_qp_attr a{};
    a.qp_access_flags = 0;
    REQUIRE(l.right.provider().modify_qp(l.right.native(), &a, IBV_QP_ACCESS_FLAGS) == 0);
    rdma(r, IBV_WR_RDMA_WRITE, 0, 64).post(l.left);
  }
  SECTION("with immediate, without a receive") {
    rdma(r, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 64, r.buffer.bytes() - 63).post(l.left);
  }
  good(l.sends);
  CHECK(test::stays_empty(l.arrivals, quiet));
  CHECK(std::all_of(r.buffer.data() + remote, r.buffer.data() + r.buffer.bytes(),
                    [](std::byte b) { return b == std::byte{0}; }));
  still_works(r, l);
}

TEST_CASE("unreliable requests to a missing peer succeed", "[unreliable]") {
  rig r;
  joined l(r, {.type = IBV_QPT_UC});
  l.right.close();
  rdma(r, IBV_WR_RDMA_WRITE, 0, 8).post(l.left);
  work(IBV_WR_SEND, {r.piece(0, 8)}).post(l.left);
  good(l.sends);
  good(l.sends);
  CHECK(l.left.state() == IBV_QPS_RTS);
}

TEST_CASE("a peer in ERR receives nothing, until it is set up again", "[unreliable]") {
  rig r;
  joined l(r, {.type = IBV_QPT_UC});
  l.right.to_error();
  r.buffer.data()[0] = std::byte{5};
  rdma(r, IBV_WR_RDMA_WRITE, 0, 8).post(l.left);
  good(l.sends);
  l.right.to_reset();
  const connection peer = joined::details(r, l.left, {});
  l.right.to_init({.port = r.port.number, .access = all_access});
  l.right.to_ready_to_receive(peer);
  l.right.to_ready_to_send(peer);
  CHECK(r.buffer.data()[remote] == std::byte{0});
  still_works(r, l);
}

TEST_CASE("a local fault fails the unreliable sender alone", "[unreliable]") {
  rig r;
  joined l(r, {.type = IBV_QPT_UC});
  ibv_sge bad = r.piece(0, 8);
  bad.lkey += 0x100;
  work(IBV_WR_SEND, {bad}).id(1).post(l.left);
  rdma(r, IBV_WR_RDMA_WRITE, 0, 8).id(2).flags(0).post(l.left);
  const ibv_wc failed = next(l.sends);
  CHECK(failed.wr_id == 1);
  conforms("a wrong local key on an unreliable connection: status", failed.status, IBV_WC_LOC_PROT_ERR,
           {{"rxe", IBV_WC_LOC_QP_OP_ERR,
             "rxe_req.c: a gather list that cannot be copied is "
             "IB_WC_LOC_QP_OP_ERR"}});
  const ibv_wc flushed = next(l.sends);
  CHECK(flushed.wr_id == 2);
  CHECK(flushed.status == IBV_WC_WR_FLUSH_ERR);
  CHECK(l.right.state() == IBV_QPS_RTS);
  if (l.left.state() != IBV_QPS_SQE) return skip("the device takes it to ERR, as datagram_test.cpp says");
  work(IBV_WR_SEND, {r.piece(0, 8)}).id(3).post(l.left);
  CHECK(next(l.sends).status == IBV_WC_WR_FLUSH_ERR);
  ibv_qp_attr a{};
  a.qp_state = IBV_QPS_RTS;
  REQUIRE(l.left.provider().modify_qp(l.left.native(), &a, IBV_QP_STATE) == 0);
  still_works(r, l);
}

TEST_CASE("a message that does not fit its receive is not delivered as if it fitted", "[unreliable]") {
  rig r;
  joined l(r, {.type = IBV_QPT_UC});
  fill(r.buffer.span().first(64), 3);
  receive(l.right, 9, {r.piece(remote, 7)});
  work(IBV_WR_SEND, {r.piece(0, 64)}).post(l.left);
  good(l.sends);  // the sender is not notified
  // IBTA lets the receiver decide whether the receive fails or waits for the next message.
  const auto found = all_of(l.arrivals);
  for (const ibv_wc& one : found) CHECK(one.status != IBV_WC_SUCCESS);
  if (r.device.is_soft()) CHECK(found.empty());
  CHECK(std::all_of(r.buffer.data() + remote + 7, r.buffer.data() + remote + 100,
                    [](std::byte b) { return b == std::byte{0}; }));
  CHECK(l.left.state() == IBV_QPS_RTS);
}
