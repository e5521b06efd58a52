// SPDX-License-Identifier: Apache-2.0
// The attributes that each transition of a queue pair passes to the device: exactly those that its type
// requires.
#include <catch2/catch.hpp>

#include "fake_driver.hpp"
#include "support.hpp"

using namespace chorale::verbs;
using fake::scene;

namespace {

const ibv_qp_attr& given() {
  return fake::real().modified;
}
int mask() {
  return fake::real().modified_mask;
}

}  // namespace

TEST_CASE("connected transitions", "[fake]") {
  const scene here;
  const device dev = device::open("fake0", here.drivers);
  protection_domain domain(dev);
  completion_queue queue(dev, 8);
  const auto type = GENERATE(IBV_QPT_RC, IBV_QPT_UC);
  const bool reliable = type == IBV_QPT_RC;
  queue_pair pair(domain, {.type = type, .send = &queue, .recv = &queue});

  pair.to_init({.port = 2, .pkey_index = 3, .access = IBV_ACCESS_REMOTE_READ, .qkey = 4});
  CHECK(mask() == (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
  CHECK(given().qp_state == IBV_QPS_INIT);
  CHECK(given().port_num == 2);
  CHECK(given().pkey_index == 3);
  CHECK(given().qp_access_flags == IBV_ACCESS_REMOTE_READ);

  connection peer{.remote_qp = 0x10,
                  .remote_psn = 0x20,
                  .local_psn = 0x30,
                  .path_mtu = IBV_MTU_2048,
                  .max_rd_atomic = 5,
                  .max_dest_rd_atomic = 6,
                  .min_rnr_timer = 7,
                  .timeout = 8,
                  .retry = 3,
                  .rnr_retry = 4};
  peer.path.dlid = 99;
  pair.to_ready_to_receive(peer);
  const int receiving = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  CHECK(mask() == (reliable ? receiving | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : receiving));
  CHECK(given().qp_state == IBV_QPS_RTR);
  CHECK(given().dest_qp_num == 0x10);
  CHECK(given().rq_psn == 0x20);
  CHECK(given().path_mtu == IBV_MTU_2048);
  CHECK(given().ah_attr.dlid == 99);
  CHECK(given().max_dest_rd_atomic == 6);
  CHECK(given().min_rnr_timer == 7);

  pair.to_ready_to_send(peer);
  const int sending = IBV_QP_STATE | IBV_QP_SQ_PSN;
  CHECK(mask() ==
        (reliable ? sending | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC
                  : sending));
  CHECK(given().qp_state == IBV_QPS_RTS);
  CHECK(given().sq_psn == 0x30);
  CHECK(given().max_rd_atomic == 5);
  CHECK(given().timeout == 8);
  CHECK(given().retry_cnt == 3);
  CHECK(given().rnr_retry == 4);

  pair.to_error();
  CHECK(mask() == IBV_QP_STATE);
  CHECK(given().qp_state == IBV_QPS_ERR);
  pair.to_reset();
  CHECK(mask() == IBV_QP_STATE);
  CHECK(given().qp_state == IBV_QPS_RESET);
}

TEST_CASE("datagram transitions", "[fake]") {
  const scene here;
  const device dev = device::open("fake0", here.drivers);
  protection_domain domain(dev);
  completion_queue queue(dev, 8);
  queue_pair pair(domain, {.type = IBV_QPT_UD, .send = &queue, .recv = &queue});
  pair.to_init({.port = 2, .pkey_index = 3, .access = IBV_ACCESS_REMOTE_READ, .qkey = 4});
  CHECK(mask() == (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
  CHECK(given().qkey == 4);
  CHECK(given().port_num == 2);
  pair.to_ready_to_receive();
  CHECK(mask() == IBV_QP_STATE);
  CHECK(given().qp_state == IBV_QPS_RTR);
  pair.to_ready_to_send(0xabcdef);
  CHECK(mask() == (IBV_QP_STATE | IBV_QP_SQ_PSN));
  CHECK(given().qp_state == IBV_QPS_RTS);
  CHECK(given().sq_psn == 0xabcdef);
}

TEST_CASE("creation passes on the requested attributes", "[fake]") {
  const scene here;
  const device dev = device::open("fake0", here.drivers);
  protection_domain domain(dev);
  completion_queue sends(dev, 8), receives(dev, 8);
  shared_receive_queue srq(domain, 4);
  const auto& got = fake::real().created;
  queue_pair_options wanted{.type = IBV_QPT_UC,
                            .send = &sends,
                            .recv = &receives,
                            .send_depth = 11,
                            .recv_depth = 12,
                            .send_sges = 13,
                            .recv_sges = 14,
                            .inline_bytes = 15,
                            .signal_all = true};
  const queue_pair plain(domain, wanted);
  CHECK(got.qp_type == IBV_QPT_UC);
  CHECK(got.send_cq == sends.native());
  CHECK(got.recv_cq == receives.native());
  CHECK(got.srq == nullptr);
  CHECK(got.cap.max_send_wr == 11);
  CHECK(got.cap.max_recv_wr == 12);
  CHECK(got.cap.max_send_sge == 13);
  CHECK(got.cap.max_recv_sge == 14);
  CHECK(got.cap.max_inline_data == 15);
  CHECK(got.sq_sig_all == 1);
  wanted.srq = &srq;
  wanted.signal_all = false;
  const queue_pair shared(domain, wanted);
  CHECK(got.srq == srq.native());
  CHECK(got.cap.max_recv_wr == 0);
  CHECK(got.sq_sig_all == 0);
}
