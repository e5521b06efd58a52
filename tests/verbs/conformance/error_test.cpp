// SPDX-License-Identifier: Apache-2.0
// Faults of a request: the status at both ends, the states after it, the event, and the flush of all other
// requests.
#include <algorithm>

#include "scene.hpp"

using namespace conformance;

namespace {

/// The expected effect of a fault.
struct fault {
  const char* name;
  ibv_wc_status requester;
  std::vector<known<ibv_wc_status>> requester_differs;
  /// Status of the receive that the request took; IBV_WC_WR_FLUSH_ERR if it took none.
  ibv_wc_status responder;
  std::vector<known<ibv_wc_status>> responder_differs;
  bool responder_fails;
  void (*post)(rig& r, joined& l);
};

void post_write(rig& r, joined& l, std::uint64_t at, std::uint32_t key, std::uint32_t bytes = 8) {
  work(IBV_WR_RDMA_WRITE, {r.piece(0, bytes)}).at(at, key).post(l.left);
}

ibv_sge with_key(ibv_sge piece, std::uint32_t key) {
  piece.lkey = key;
  return piece;
}

constexpr const char* rxe_local =
    "Soft-RoCE finds a bad gather list when it builds the packet (rxe_req.c: wqe->status = "
    "IB_WC_LOC_QP_OP_ERR or LOC_PROT_ERR)";
constexpr const char* rxe_receive =
    "Soft-RoCE takes a receive that cannot hold the message for malformed (rxe_resp.c: send_data_in, "
    "RESPST_ERR_MALFORMED_WQE)";

const std::vector<fault>& faults() {
  static const std::vector<fault> all{
      {"wrong rkey",
       IBV_WC_REM_ACCESS_ERR,
       {},
       IBV_WC_WR_FLUSH_ERR,
       {},
       true,
       [](rig& r, joined& l) { post_write(r, l, address(r, remote), r.buffer.rkey() + 0x100); }},
      {"beyond the end",
       IBV_WC_REM_ACCESS_ERR,
       {},
       IBV_WC_WR_FLUSH_ERR,
       {},
       true,
       [](rig& r, joined& l) { post_write(r, l, address(r, r.buffer.bytes() - 7), r.buffer.rkey()); }},
      {"a queue pair that allows no writes",
       IBV_WC_REM_INV_REQ_ERR,
       {},
       IBV_WC_WR_FLUSH_ERR,
       {},
       true,
       [](rig& r, joined& l) {
         ibv_qp_attr a{};
         a.qp_access_flags = IBV_ACCESS_REMOTE_READ;
         REQUIRE(l.right.provider().modify_qp(l.right.native(), &a, IBV_QP_ACCESS_FLAGS) == 0);
         post_write(r, l, address(r, remote), r.buffer.rkey());
       }},
      {"a queue pair that allows no reads",
       IBV_WC_REM_INV_REQ_ERR,
       {},
       IBV_WC_WR_FLUSH_ERR,
       {},
       true,
       [](rig& r, joined& l) {
         ibv_qp_attr a{};
         a.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
         REQUIRE(l.right.provider().modify_qp(l.right.native(), &a, IBV_QP_ACCESS_FLAGS) == 0);
         rdma(r, IBV_WR_RDMA_READ, 0, 8).post(l.left);
       }},
      {"wrong lkey of a write",
       IBV_WC_LOC_PROT_ERR,
       {{"rxe", IBV_WC_LOC_QP_OP_ERR, rxe_local}},
       IBV_WC_WR_FLUSH_ERR,
       {},
       false,
       [](rig& r, joined& l) {
         work(IBV_WR_RDMA_WRITE, {with_key(r.piece(0, 8), r.buffer.lkey() + 0x100)})
             .at(address(r, remote), r.buffer.rkey())
             .post(l.left);
       }},
      {"wrong lkey of a send",
       IBV_WC_LOC_PROT_ERR,
       {{"rxe", IBV_WC_LOC_QP_OP_ERR, rxe_local}},
       IBV_WC_WR_FLUSH_ERR,
       {},
       false,
       [](rig& r, joined& l) {
         work(IBV_WR_SEND, {with_key(r.piece(0, 8), r.buffer.lkey() + 0x100)}).post(l.left);
       }},
      {"wrong lkey of the second piece",
       IBV_WC_LOC_PROT_ERR,
       {{"rxe", IBV_WC_LOC_QP_OP_ERR, rxe_local}},
       IBV_WC_WR_FLUSH_ERR,
       {},
       false,
       [](rig& r, joined& l) {
         work(IBV_WR_SEND, {r.piece(0, 8), with_key(r.piece(8, 8), r.buffer.lkey() + 0x100)}).post(l.left);
       }},
      {"wrong lkey of what is read",
       IBV_WC_LOC_PROT_ERR,
       {},
       IBV_WC_WR_FLUSH_ERR,
       {},
       false,
       [](rig& r, joined& l) {
         work(IBV_WR_RDMA_READ, {with_key(r.piece(0, 8), r.buffer.lkey() + 0x100)})
             .at(address(r, remote), r.buffer.rkey())
             .post(l.left);
       }},
      {"a receive that is too short",
       IBV_WC_REM_INV_REQ_ERR,
       {{"rxe", IBV_WC_REM_OP_ERR, rxe_receive}},
       IBV_WC_LOC_LEN_ERR,
       {{"rxe", IBV_WC_LOC_QP_OP_ERR, rxe_receive}},
       true,
       [](rig& r, joined& l) {
         receive(l.right, 9, {r.piece(remote, 7)});
         work(IBV_WR_SEND, {r.piece(0, 8)}).post(l.left);
       }},
      {"a receive with a wrong lkey",
       IBV_WC_REM_OP_ERR,
       {},
       IBV_WC_LOC_PROT_ERR,
       {{"rxe", IBV_WC_LOC_QP_OP_ERR, rxe_receive}},
       true,
       [](rig& r, joined& l) {
         receive(l.right, 9, {with_key(r.piece(remote, 100), r.buffer.lkey() + 0x100)});
         work(IBV_WR_SEND, {r.piece(0, 8)}).post(l.left);
       }},
  };
  return all;
}

bool conforms_status(const std::string& rule, ibv_wc_status seen, ibv_wc_status specified,
                     const std::vector<known<ibv_wc_status>>& documented) {
  for (const auto& other : documented)
    if (seen == other.value && seen != specified) return conforms(rule, seen, specified, {other});
  return conforms(rule, seen, specified);
}

}  // namespace

TEST_CASE("a fault has its status, stops the queue pair and flushes later requests", "[error]") {
  rig r;
  const auto index = GENERATE(range(std::size_t{0}, faults().size()));
  const fault& f = faults()[index];
  INFO(f.name);
  joined l(r);
  receive(l.left, 60);
  f.post(r, l);
  rdma(r, IBV_WR_RDMA_WRITE, 0, 8).id(50).flags(0).post(l.left);  // unsignalled, and still flushed

  // Sends complete in order; a receive of the same queue pair may come in between.
  std::vector<ibv_wc> sends;
  for (int i = 0; i < 3; ++i) {
    const ibv_wc done = next(l.sends);
    CHECK(done.qp_num == l.left.number());
    if (done.wr_id == 60)
      CHECK(done.status == IBV_WC_WR_FLUSH_ERR);
    else
      sends.push_back(done);
  }
  REQUIRE(sends.size() == 2);
  CHECK(sends[0].wr_id == 1);
  conforms_status(std::string{f.name} + ": status of the request", sends[0].status, f.requester,
                  f.requester_differs);
  CHECK(sends[1].wr_id == 50);
  CHECK(sends[1].status == IBV_WC_WR_FLUSH_ERR);
  CHECK(settled(l.left, IBV_QPS_ERR) == IBV_QPS_ERR);

  if (f.responder != IBV_WC_WR_FLUSH_ERR) {
    const ibv_wc taken = next(l.arrivals);
    CHECK(taken.wr_id == 9);
    conforms_status(std::string{f.name} + ": status of the receive", taken.status, f.responder,
                    f.responder_differs);
  }
  if (!f.responder_fails) {
    CHECK(l.right.state() == IBV_QPS_RTS);
    return;
  }
  CHECK(settled(l.right, IBV_QPS_ERR) == IBV_QPS_ERR);
}

TEST_CASE("a failed pair is as new after RESET", "[error]") {
  rig r;
  joined l(r);
  receive(l.right, 1, {r.piece(remote, 8)});
  work(IBV_WR_RDMA_WRITE, {r.piece(0, 8)}).at(address(r, remote), r.buffer.rkey() + 0x100).post(l.left);
  CHECK(next(l.sends).status == IBV_WC_REM_ACCESS_ERR);
  CHECK(next(l.arrivals).status == IBV_WC_WR_FLUSH_ERR);
  CHECK(settled(l.right, IBV_QPS_ERR) == IBV_QPS_ERR);
  const auto again = [&](queue_pair& from, const queue_pair& to) {
    from.to_reset();
    CHECK(from.state() == IBV_QPS_RESET);
    const connection peer = joined::details(r, to, {});
    from.to_init({.port = r.port.number, .access = all_access});
    from.to_ready_to_receive(peer);
    from.to_ready_to_send(peer);
  };
  again(l.left, l.right);
  again(l.right, l.left);
  fill(r.buffer.span(), 5);
  receive(l.right, 2, {r.piece(remote, 8)});
  work(IBV_WR_SEND, {r.piece(0, 8)}).id(3).post(l.left);
  CHECK(good(l.arrivals).wr_id == 2);
  CHECK(good(l.sends).wr_id == 3);
  CHECK(std::equal(r.buffer.data(), r.buffer.data() + 8, r.buffer.data() + remote));
}

TEST_CASE("a message with a fault in the middle writes nothing after the fault", "[error]") {
  // A write that begins inside its region and leaves it: any bytes that are placed stay inside.
  rig r;
  joined l(r);
  registered_buffer narrow(r.domain, 3 * 4096, all_access);
  std::fill_n(narrow.data(), narrow.bytes(), std::byte{0x11});
  memory_region inner(r.domain, narrow.data(), 4096, all_access);
  work(IBV_WR_RDMA_WRITE, {r.piece(0, 8192)})
      .at(reinterpret_cast<std::uint64_t>(narrow.data()), inner.rkey())
      .post(l.left);
  CHECK(next(l.sends).status == IBV_WC_REM_ACCESS_ERR);
  CHECK(std::all_of(narrow.data() + 4096, narrow.data() + narrow.bytes(),
                    [](std::byte b) { return b == std::byte{0x11}; }));
}
