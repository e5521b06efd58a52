// SPDX-License-Identifier: Apache-2.0
// UD: the 40 bytes before the payload, keys, and the many reasons for which a datagram is lost.
#include "datagram.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cstring>

using namespace conformance;

TEST_CASE("a datagram arrives after 40 bytes, and its completion is enough to answer it", "[datagram]") {
  rig r;
  receiver left(r), right(r);
  left.post(2);
  right.post(1);
  fill(r.buffer.span(), 1);
  const address_handle way(r.domain, path_to(r.port, r.port.address));
  work(IBV_WR_SEND_WITH_IMM, {r.piece(0, 6), r.piece(100, 7)})
      .immediate(0x1234abcd)
      .to(way, right.pair.number())
      .post(left.pair);
  good(r.queue);
  const ibv_wc got = good(right.queue);
  CHECK(got.opcode == IBV_WC_RECV);
  CHECK(got.wr_id == 1);
  CHECK(got.byte_len == grh_bytes + 13);
  CHECK(got.src_qp == left.pair.number());
  CHECK(got.qp_num == right.pair.number());
  CHECK((got.wc_flags & IBV_WC_WITH_IMM) != 0);
  CHECK(ntohl(got.imm_data) == 0x1234abcd);
  CHECK(std::memcmp(right.slot(1) + grh_bytes, r.buffer.data(), 6) == 0);
  CHECK(std::memcmp(right.slot(1) + grh_bytes + 6, r.buffer.data() + 100, 7) == 0);

  ibv_grh header{};
  std::memcpy(&header, right.slot(1), sizeof header);
  const address_handle back = address_handle::from_completion(r.domain, got, header, r.port.number);
  send_datagram(r, right.pair, back, got.src_qp, 200, 31);
  CHECK(good(left.queue).byte_len == grh_bytes + 31);
  CHECK(std::memcmp(left.slot(2) + grh_bytes, r.buffer.data() + 200, 31) == 0);
}

TEST_CASE("the header names sender and receiver where there is one, and is never the payload", "[datagram]") {
  rig r;
  receiver left(r), right(r);
  ibv_ah_attr path = path_to(r.port, r.port.address);
  const bool global = GENERATE(false, true);
  if (!global && r.port.ethernet) return skip("RoCE always has a GRH");
  path.is_global = global ? 1 : 0;
  path.grh.dgid = r.port.address.gid;
  path.grh.sgid_index = static_cast<std::uint8_t>(r.choice.gid_index);
  path.grh.hop_limit = 17;
  path.sl = 5;
  const address_handle way(r.domain, path);
  std::fill_n(right.slot(1), right.bytes, std::byte{0xee});
  // The header goes to as many pieces as any data.
  const std::uint32_t key = right.memory.lkey();
  receive(right.pair, 1, {{right.at(1), 20, key}, {right.at(1) + 20, grh_bytes + 44, key}});
  std::fill_n(r.buffer.data(), 64, std::byte{0x77});
  send_datagram(r, left.pair, way, right.pair.number(), 0, 64);
  const ibv_wc got = good(right.queue);
  CHECK(((got.wc_flags & IBV_WC_GRH) != 0) == global);
  CHECK(got.byte_len == grh_bytes + 64);
  CHECK(got.slid == r.port.address.lid);
  if (r.device.is_soft() || is_simulated()) CHECK(got.sl == 5);
  CHECK(std::all_of(right.slot(1) + grh_bytes, right.slot(1) + grh_bytes + 64,
                    [](std::byte b) { return b == std::byte{0x77}; }));
  CHECK(right.slot(1)[grh_bytes + 64] == std::byte{0xee});
  if (!global) return;
  ibv_grh header{};
  std::memcpy(&header, right.slot(1), sizeof header);
  if (is_ipv4_mapped(r.port.address.gid)) {
    // RoCE v2 on IPv4: the IPv4 header is in the last 20 of the 40 bytes.
    const std::byte* const ip = right.slot(1) + 20;
    CHECK((ip[0] >> 4) == std::byte{4});
    CHECK(std::memcmp(ip + 12, r.port.address.gid.raw + 12, 4) == 0);
    CHECK(std::memcmp(ip + 16, r.port.address.gid.raw + 12, 4) == 0);
    return;
  }
  CHECK(ntohl(header.version_tclass_flow) >> 28 == 6);
  CHECK(std::memcmp(&header.sgid, &r.port.address.gid, 16) == 0);
  CHECK(std::memcmp(&header.dgid, &r.port.address.gid, 16) == 0);
}

TEST_CASE("datagrams with another Q_Key, to no queue pair, or without a receive vanish", "[datagram]") {
  rig r;
  receiver left(r), right(r);
  const address_handle way(r.domain, path_to(r.port, r.port.address));
  fill(r.buffer.span(), 2);
  const std::uint32_t violations = r.device.port(r.port.number).qkey_viol_cntr;
  send_datagram(r, left.pair, way, right.pair.number(), 0, 10);  // no receive is there
  CHECK(test::stays_empty(right.queue, quiet));                  // and it is lost before there is one
  right.post(1);
  send_datagram(r, left.pair, way, right.pair.number(), 0, 11, test::qkey + 1);
  send_datagram(r, left.pair, way, right.pair.number(), 0, 11, 0);
  {
    queue_pair gone = r.datagram_pair();
    const std::uint32_t number = gone.number();
    gone.close();
    send_datagram(r, left.pair, way, number, 0, 12);
  }
  {
    queue_pair connected(r.domain, r.options(IBV_QPT_RC));  // of another type
    connected.to_init({.port = r.port.number});
    send_datagram(r, left.pair, way, connected.number(), 0, 13);
  }
  CHECK(test::stays_empty(right.queue, quiet));
  CHECK(r.device.port(r.port.number).qkey_viol_cntr == violations + 2);
  send_datagram(r, left.pair, way, right.pair.number(), 0, 14);
  CHECK(good(right.queue).byte_len == grh_bytes + 14);
  CHECK(left.pair.state() == IBV_QPS_RTS);
  CHECK(right.pair.state() == IBV_QPS_RTS);
}

TEST_CASE("a Q_Key with the highest bit set stands for the sender's own", "[datagram]") {
  rig r;
  receiver left(r), right(r);
  const address_handle way(r.domain, path_to(r.port, r.port.address));
  right.post(1);
  send_datagram(r, left.pair, way, right.pair.number(), 0, 10, 0x80000000U | 5U);
  const bool arrived = !test::stays_empty(right.queue, 100ms);
  holds("a remote Q_Key with the highest bit set stands for the sending queue pair's", arrived,
        {{"rxe", false,
          "Soft-RoCE sends it as it is, and the receiver drops it (rxe_req.c: init_req_packet)"}});
}

TEST_CASE("the Q_Key can be changed while in service", "[datagram]") {
  rig r;
  receiver left(r), right(r);
  const address_handle way(r.domain, path_to(r.port, r.port.address));
  ibv_qp_attr a{};
  a.qkey = 0x99;
  REQUIRE(right.pair.provider().modify_qp(right.pair.native(), &a, IBV_QP_QKEY) == 0);
  right.post(1);
  send_datagram(r, left.pair, way, right.pair.number(), 0, 10);
  CHECK(test::stays_empty(right.queue, quiet));
  send_datagram(r, left.pair, way, right.pair.number(), 0, 11, 0x99);
  CHECK(good(right.queue).byte_len == grh_bytes + 11);
}

TEST_CASE("a datagram that does not fit its receive is not delivered as if it fitted", "[datagram]") {
  rig r;
  receiver left(r), right(r);
  const address_handle way(r.domain, path_to(r.port, r.port.address));
  right.post(1, grh_bytes + 7);
  fill(r.buffer.span().first(64), 3);
  send_datagram(r, left.pair, way, right.pair.number(), 0, 8);
  // IBTA: dropped, or the receive fails.
  for (const ibv_wc& one : all_of(right.queue)) {
    INFO(describe(one));
    CHECK(one.status != IBV_WC_SUCCESS);
  }
  CHECK(right.slot(1)[grh_bytes + 7] == std::byte{0});
  CHECK(left.pair.state() == IBV_QPS_RTS);
}

TEST_CASE("a datagram that fits exactly arrives, even without payload", "[datagram]") {
  rig r;
  receiver left(r), right(r);
  const address_handle way(r.domain, path_to(r.port, r.port.address));
  for (const std::uint32_t bytes : {0U, 1U, 8U, 100U}) {
    INFO(bytes << " bytes");
    right.post(1, grh_bytes + bytes);
    send_datagram(r, left.pair, way, right.pair.number(), 0, bytes);
    CHECK(good(right.queue).byte_len == grh_bytes + bytes);
  }
}

TEST_CASE("states of the receiver: from RTR on", "[datagram]") {
  rig r;
  receiver left(r);
  completion_queue queue(r.device, 16);
  queue_pair pair(r.domain, {.type = IBV_QPT_UD, .send = &queue, .recv = &queue});
  const address_handle way(r.domain, path_to(r.port, r.port.address));
  pair.to_init({.port = r.port.number, .qkey = test::qkey});
  receive(pair, 1, {r.piece(remote, 100)});
  send_datagram(r, left.pair, way, pair.number(), 0, 10);
  CHECK(test::stays_empty(queue, quiet));
  pair.to_ready_to_receive();
  send_datagram(r, left.pair, way, pair.number(), 0, 11);
  CHECK(good(queue).byte_len == grh_bytes + 11);
  receive(pair, 2, {r.piece(remote, 100)});
  pair.to_error();
  CHECK(next(queue).status == IBV_WC_WR_FLUSH_ERR);
  send_datagram(r, left.pair, way, pair.number(), 0, 12);
  CHECK(test::stays_empty(queue, quiet));
}

TEST_CASE("a datagram queue pair sends after a local fault once it is in RTS again", "[datagram]") {
  rig r;
  receiver left(r), right(r);
  const address_handle way(r.domain, path_to(r.port, r.port.address));
  ibv_sge bad = r.piece(0, 8);
  bad.lkey += 0x100;
  left.post(1);
  work(IBV_WR_SEND, {bad}).id(1).to(way, right.pair.number()).post(left.pair);
  work(IBV_WR_SEND, {r.piece(0, 8)}).id(2).flags(0).to(way, right.pair.number()).post(left.pair);
  conforms("a wrong local key of a datagram: status", next(r.queue).status, IBV_WC_LOC_PROT_ERR,
           {{"rxe", IBV_WC_LOC_QP_OP_ERR,
             "rxe_req.c: a gather list that cannot be copied is "
             "IB_WC_LOC_QP_OP_ERR"}});
  const ibv_wc flushed = next(r.queue);
  CHECK(flushed.wr_id == 2);
  CHECK(flushed.status == IBV_WC_WR_FLUSH_ERR);
  if (!conforms("a local error takes the send queue of an unreliable queue pair to SQE", left.pair.state(),
                IBV_QPS_SQE,
                {{"rxe", IBV_QPS_ERR,
                  "Soft-RoCE takes any queue pair whose request fails to ERR "
                  "(rxe_comp.c: COMPST_ERROR calls rxe_qp_error)"}}))
    return;
  // It can receive all the time.
  send_datagram(r, right.pair, way, left.pair.number(), 0, 9);
  CHECK(good(left.queue).byte_len == grh_bytes + 9);
  ibv_qp_attr a{};
  a.qp_state = IBV_QPS_RTS;
  REQUIRE(left.pair.provider().modify_qp(left.pair.native(), &a, IBV_QP_STATE) == 0);
  right.post(1);
  send_datagram(r, left.pair, way, right.pair.number(), 0, 9);
  good(right.queue);
}

TEST_CASE("an address that does not exist is refused", "[datagram]") {
  rig r;
  ibv_ah_attr path = path_to(r.port, r.port.address);
  path.port_num = static_cast<std::uint8_t>(r.device.attributes().phys_port_cnt + 1);
  CHECK_THAT(test::error_of([&] { address_handle(r.domain, path); }).what(),
             Catch::Contains("ibv_create_ah") && Catch::Contains(test::device_name()));
}
