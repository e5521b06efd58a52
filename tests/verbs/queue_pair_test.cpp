// SPDX-License-Identifier: Apache-2.0
// A queue pair's states, and the requests that may be posted in them.
#include <catch2/catch.hpp>

#include "support.hpp"

using Catch::Contains;
using namespace chorale::verbs;
using test::error_of;
using test::next_completion;

TEST_CASE("RC from RESET to RTS and back", "[device]") {
  test::rig r;
  queue_pair pair(r.domain, r.options(IBV_QPT_RC));
  CHECK(pair.state() == IBV_QPS_RESET);
  CHECK(pair.number() != 0);
  CHECK(pair.number() < 1U << 24);
  connection peer{.remote_qp = pair.number(), .path_mtu = mtu_from_bytes(r.choice.mtu_bytes)};
  peer.path = path_to(r.port, r.port.address);

  const auto refused = [](const auto& act, const char* from, const char* to) {
    CHECK_THAT(error_of(act).what(), Contains(std::string{"from "} + from + " to " + to) &&
                                         Contains(test::device_name()) && Contains("(RC)"));
  };
  refused([&] { pair.to_ready_to_receive(peer); }, "RESET", "RTR");
  refused([&] { pair.to_ready_to_send(peer); }, "RESET", "RTS");
  pair.to_init({.port = r.port.number, .access = IBV_ACCESS_REMOTE_WRITE});
  CHECK(pair.state() == IBV_QPS_INIT);
  refused([&] { pair.to_ready_to_send(peer); }, "INIT", "RTS");
  pair.to_ready_to_receive(peer);
  CHECK(pair.state() == IBV_QPS_RTR);
  pair.to_ready_to_send(peer);
  CHECK(pair.state() == IBV_QPS_RTS);
  refused([&] { pair.to_init({.port = r.port.number}); }, "RTS", "INIT");
  pair.to_error();
  CHECK(pair.state() == IBV_QPS_ERR);
  pair.to_reset();
  CHECK(pair.state() == IBV_QPS_RESET);
  static_cast<void>(pair.bytes_in_order());  // any answer is right
}

TEST_CASE("attributes that do not exist", "[device]") {
  test::rig r;
  queue_pair pair(r.domain, r.options(IBV_QPT_RC));
  CHECK_THAT(error_of([&] { pair.to_init({.port = 77}); }).what(),
             Contains("port and PKey index must exist"));
  if (r.device.is_soft()) {
    const auto beyond = r.device.port(r.port.number).pkey_tbl_len;
    CHECK_THAT(error_of([&] { pair.to_init({.port = r.port.number, .pkey_index = beyond}); }).what(),
               Contains("from RESET to INIT"));
    CHECK(pair.state() == IBV_QPS_RESET);
  } else {
    test::skip("Soft-RoCE takes any PKey index");
  }

  const int most = r.device.attributes().max_qp_wr;
  auto wanted = r.options(IBV_QPT_RC);
  wanted.send_depth = static_cast<std::uint32_t>(most) + 1;
  CHECK_THAT(error_of([&] { queue_pair(r.domain, wanted); }).what(), Contains("max_qp_wr"));
  CHECK_THAT(error_of([&] { completion_queue(r.device, 0); }).what(), Contains("ibv_create_cq"));
  if (r.device.attributes().max_cqe < INT32_MAX)
    CHECK_THAT(error_of([&] { completion_queue(r.device, r.device.attributes().max_cqe + 1); }).what(),
               Contains("1 to "));
}

TEST_CASE("posting in the wrong state and over the limits", "[device]") {
  test::rig r;
  auto wanted = r.options(IBV_QPT_RC);
  wanted.recv_depth = 4;
  queue_pair pair(r.domain, wanted);
  ibv_sge piece = r.piece(0, 64);
  ibv_send_wr send = test::request(IBV_WR_SEND, piece);
  ibv_recv_wr receive{.wr_id = 1, .next = nullptr, .sg_list = &piece, .num_sge = 1};
  if (r.device.is_soft()) {
    CHECK_THAT(error_of([&] { pair.post_send(send); }).what(), Contains("in state RESET"));
    CHECK_THAT(error_of([&] { pair.post_recv(receive); }).what(), Contains("in state RESET"));
  } else {
    test::skip("kernel drivers check the state of a queue pair only when they execute a request");
  }
  pair.to_init({.port = r.port.number, .access = 0});
  std::uint32_t posted = 0;
  while (posted < 4 * pair.recv_depth() && pair.try_post_recv(receive) == 0) ++posted;
  // Real devices may have more entries than they grant.
  CHECK(posted >= pair.recv_depth());
  if (r.device.is_soft()) CHECK(posted == pair.recv_depth());
  const auto full = error_of([&] { pair.post_recv(receive); });
  CHECK(full.code().value() == ENOMEM);
  CHECK_THAT(full.what(), Contains("receive requests are posted"));

  // All of them are flushed when the queue pair fails, and none after a reset.
  pair.to_error();
  for (std::uint32_t i = 0; i < posted; ++i) CHECK(next_completion(r.queue).status == IBV_WC_WR_FLUSH_ERR);
  pair.to_reset();
  CHECK(test::stays_empty(r.queue, std::chrono::milliseconds{5}));
}
