// SPDX-License-Identifier: Apache-2.0
// Values of attributes: those out of range are refused, valid ones are kept.
#include "scene.hpp"

using namespace conformance;

namespace {

/// The attributes of each transition of an RC queue pair; a test changes one.
struct way {
  explicit way(rig& host) : r(host), queue(r.device, 16), pair(r.domain, options()) {
    a.port_num = r.port.number;
    a.qp_access_flags = all_access;
    a.ah_attr = path_to(r.port, r.port.address);
    a.path_mtu = mtu_from_bytes(r.choice.mtu_bytes);
    a.dest_qp_num = pair.number();
    a.rq_psn = 0x123456;
    a.sq_psn = 0xfedcba;
    a.max_rd_atomic = 3;
    a.max_dest_rd_atomic = 4;
    a.min_rnr_timer = 5;
    a.timeout = 6;
    a.retry_cnt = 2;
    a.rnr_retry = 1;
  }
  queue_pair_options options() { return {.send = &queue, .recv = &queue, .send_depth = 8, .recv_depth = 9}; }
  int modify(ibv_qp_state to, int mask) {
    a.qp_state = to;
    return errno_of(pair.provider().modify_qp(pair.native(), &a, mask | IBV_QP_STATE));
  }
  int init() { return modify(IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS); }
  int receive() {
    return modify(IBV_QPS_RTR, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                   IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  }
  int send() {
    return modify(IBV_QPS_RTS, IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                                   IBV_QP_MAX_QP_RD_ATOMIC);
  }

  rig& r;
  completion_queue queue;
  queue_pair pair;
  ibv_qp_attr a{};
};

}  // namespace

TEST_CASE("attributes are returned as they were set", "[attribute]") {
  rig r;
  way w(r);
  REQUIRE(w.init() == 0);
  REQUIRE(w.receive() == 0);
  REQUIRE(w.send() == 0);
  ibv_qp_attr now{};
  ibv_qp_init_attr init{};
  const int all = IBV_QP_STATE | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                  IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MIN_RNR_TIMER | IBV_QP_CAP |
                  IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC;
  REQUIRE(w.pair.provider().query_qp(w.pair.native(), &now, all, &init) == 0);
  CHECK(now.qp_state == IBV_QPS_RTS);
  CHECK(now.port_num == w.a.port_num);
  CHECK(now.qp_access_flags == w.a.qp_access_flags);
  CHECK(now.path_mtu == w.a.path_mtu);
  CHECK(now.dest_qp_num == w.a.dest_qp_num);
  CHECK(now.timeout == 6);
  CHECK(now.retry_cnt == 2);
  CHECK(now.rnr_retry == 1);
  CHECK(now.min_rnr_timer == 5);
  CHECK(now.max_rd_atomic >= 3);  // devices may round it up
  CHECK(now.max_dest_rd_atomic >= 4);
  CHECK(init.qp_type == IBV_QPT_RC);
  CHECK(init.send_cq == w.queue.native());
  CHECK(init.recv_cq == w.queue.native());
  CHECK(init.srq == nullptr);
  CHECK(now.cap.max_send_wr >= 8);
  CHECK(now.cap.max_recv_wr >= 9);
}

TEST_CASE("values that do not exist are refused", "[attribute]") {
  rig r;
  way w(r);
  SECTION("port") {
    w.a.port_num = static_cast<std::uint8_t>(r.device.attributes().phys_port_cnt + 1);
    CHECK(w.init() == EINVAL);
    w.a.port_num = 0;
    CHECK(w.init() == EINVAL);
  }
  SECTION("partition key index") {
    w.a.pkey_index = r.device.port(r.port.number).pkey_tbl_len;
    conforms("the index of a partition key must be in the table", w.init(), EINVAL,
             {{"rxe", 0, "Soft-RoCE does not look at the index (rxe_qp.c: rxe_qp_chk_attr)"}});
  }
  SECTION("path MTU") {
    REQUIRE(w.init() == 0);
    const ibv_mtu largest = r.device.port(r.port.number).max_mtu;
    if (largest < IBV_MTU_4096) {
      w.a.path_mtu = IBV_MTU_4096;
      CHECK(w.receive() == EINVAL);
    }
    w.a.path_mtu = static_cast<ibv_mtu>(6);
    CHECK(w.receive() == EINVAL);
    w.a.path_mtu = static_cast<ibv_mtu>(0);
    conforms("a path MTU of no size is refused", w.receive(), EINVAL,
             {{"rxe", 0, "Soft-RoCE refuses only what is over the port's (rxe_qp.c: rxe_qp_chk_attr)"}});
  }
  SECTION("timeout") {
    REQUIRE(w.init() == 0);
    REQUIRE(w.receive() == 0);
    w.a.timeout = 32;
    CHECK(w.send() == EINVAL);
    CHECK(w.pair.state() == IBV_QPS_RTR);
    w.a.timeout = 31;
    CHECK(w.send() == 0);
  }
  SECTION("reads outstanding") {
    REQUIRE(w.init() == 0);
    REQUIRE(w.receive() == 0);
    if (r.device.attributes().max_qp_init_rd_atom < 255) {
      w.a.max_rd_atomic = static_cast<std::uint8_t>(r.device.attributes().max_qp_init_rd_atom + 1);
      CHECK(w.send() == EINVAL);
    } else {
      skip("no value is over max_qp_init_rd_atom");
    }
  }
  SECTION("retries have three bits") {
    REQUIRE(w.init() == 0);
    REQUIRE(w.receive() == 0);
    w.a.retry_cnt = 8;
    conforms("a retry count over 7 is refused", w.send(), EINVAL,
             {{"rxe", 0, "Soft-RoCE takes any retry count (rxe_qp.c: rxe_qp_chk_attr)"}});
  }
  SECTION("source of the path") {
    REQUIRE(w.init() == 0);
    w.a.ah_attr.is_global = 1;
    w.a.ah_attr.grh.dgid = r.port.address.gid;
    w.a.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(r.device.port(r.port.number).gid_tbl_len);
    if (r.device.port(r.port.number).gid_tbl_len < 256)
      CHECK(w.receive() != 0);
    else
      skip("the table of GIDs has 256 rows or more");
  }
}

TEST_CASE("access flags for memory regions only have no effect on a queue pair", "[attribute]") {
  rig r;
  const int flag = GENERATE(0, static_cast<int>(IBV_ACCESS_ON_DEMAND), static_cast<int>(IBV_ACCESS_MW_BIND),
                            static_cast<int>(IBV_ACCESS_RELAXED_ORDERING),
                            static_cast<int>(IBV_ACCESS_HUGETLB), static_cast<int>(IBV_ACCESS_ZERO_BASED));
  CAPTURE(flag);
  joined_options wanted;
  wanted.access = all_access | flag;
  joined both(r, wanted);
  rdma(r, IBV_WR_RDMA_WRITE, 0, 64).post(both.left);
  CHECK(good(both.sends).opcode == IBV_WC_RDMA_WRITE);
}

TEST_CASE("queue pairs are not created beyond the device's limits", "[attribute]") {
  rig r;
  const ibv_device_attr& most = r.device.attributes();
  auto wanted = r.options(IBV_QPT_RC);
  SECTION("send depth") {
    wanted.send_depth = static_cast<std::uint32_t>(most.max_qp_wr) + 1;
  }
  SECTION("receive depth") {
    wanted.recv_depth = static_cast<std::uint32_t>(most.max_qp_wr) + 1;
  }
  SECTION("gather entries") {
    wanted.send_sges = static_cast<std::uint32_t>(most.max_sge) + 1;
  }
  SECTION("scatter entries") {
    wanted.recv_sges = static_cast<std::uint32_t>(most.max_sge) + 1;
  }
  CHECK(test::error_of([&] { queue_pair(r.domain, wanted); }).code().value() == EINVAL);
}

TEST_CASE("queue pairs have unique numbers", "[attribute]") {
  rig r;
  const queue_pair first(r.domain, r.options(IBV_QPT_RC));
  const queue_pair second(r.domain, r.options(IBV_QPT_UD));
  CHECK(first.number() != second.number());
  for (const queue_pair* one : {&first, &second}) {
    CHECK(one->number() > 1);  // 0 and 1 belong to subnet management
    CHECK(one->number() < 0xffffff);
    CHECK(one->state() == IBV_QPS_RESET);
  }
}
