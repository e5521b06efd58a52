// SPDX-License-Identifier: Apache-2.0
// Receives shared by several queue pairs, and the event when few are left.
#include "async.hpp"
#include "datagram.hpp"

using namespace conformance;

namespace {

void post(rig& r, shared_receive_queue& srq, std::uint64_t id) {
  receive(srq, id, {r.piece(remote + 64 * static_cast<std::size_t>(id), 64)});
}

void send(joined& l) {
  work(IBV_WR_SEND).post(l.left);
  good(l.arrivals);
  good(l.sends);
}

}  // namespace

TEST_CASE("queue pairs take receives from one shared receive queue", "[srq]") {
  rig r;
  const auto type = GENERATE(IBV_QPT_RC, IBV_QPT_UC);
  if (type == IBV_QPT_UC && device_family() != "soft" && device_family() != "rxe" && !is_simulated())
    return skip("devices need not have shared receive queues on UC");
  shared_receive_queue srq(r.domain, 8);
  CHECK(srq.depth() >= 8);
  CHECK(srq.sges() >= 1);
  joined first(r, {.type = type, .srq = &srq});
  joined second(r, {.type = type, .srq = &srq});
  for (std::uint64_t id = 0; id < 6; ++id) post(r, srq, id);
  for (std::uint64_t round = 0; round < 6; ++round) {
    joined& l = round % 2 == 0 ? first : second;
    r.buffer.data()[0] = static_cast<std::byte>(round + 1);
    work(IBV_WR_SEND, {r.piece(0, 1)}).post(l.left);
    const ibv_wc got = good(l.arrivals);
    CHECK(got.wr_id == round);  // in the order of posting, whichever queue pair takes it
    CHECK(got.qp_num == l.right.number());
    CHECK(r.buffer.data()[remote + 64 * round] == static_cast<std::byte>(round + 1));
    good(l.sends);
  }
  CHECK(try_receive(first.right, 1) == EINVAL);
  CHECK(test::error_of([&] { srq.close(); }).code().value() == EBUSY);
}

TEST_CASE("datagrams take receives from a shared receive queue too", "[srq]") {
  rig r;
  shared_receive_queue srq(r.domain, 8);
  receiver one(r, 512, 1, &srq), other(r, 512, 1, &srq), sender(r);
  const address_handle way(r.domain, path_to(r.port, r.port.address));
  for (std::uint64_t id = 0; id < 4; ++id) receive(srq, id, {r.piece(remote + 128 * id, 128)});
  for (std::uint64_t round = 0; round < 4; ++round) {
    receiver& to = round % 2 == 0 ? one : other;
    send_datagram(r, sender.pair, way, to.pair.number(), 0, 5);
    CHECK(good(to.queue).wr_id == round);
  }
  send_datagram(r, sender.pair, way, one.pair.number(), 0, 5);  // lost: no receive is left
  CHECK(test::stays_empty(one.queue, quiet));
  receive(srq, 9, {r.piece(remote, 128)});
  CHECK(test::stays_empty(one.queue, quiet));
  send_datagram(r, sender.pair, way, other.pair.number(), 0, 6);
  CHECK(good(other.queue).byte_len == grh_bytes + 6);
}

TEST_CASE("a shared receive queue takes as many receives as granted", "[srq]") {
  rig r;
  shared_receive_queue srq(r.domain, 4);
  std::uint32_t posted = 0;
  int result = 0;
  while (posted < 4 * srq.depth() && (result = try_receive(srq, posted, {r.piece(0, 64)})) == 0) ++posted;
  CHECK(posted >= srq.depth());
  CHECK(result == ENOMEM);
  ibv_recv_wr more{};
  CHECK_THAT(test::error_of([&] { srq.post_recv(more); }).what(), Catch::Contains("ibv_post_srq_recv"));
  holds("a shared receive queue is as deep as it says", posted == srq.depth(),
        {{"rxe", false, "Soft-RoCE's rings are a power of two less one deep (rxe_queue.c)"}});
  const std::vector<ibv_sge> many(srq.sges() + 1, r.piece(0, 1));
  shared_receive_queue empty(r.domain, 4);
  CHECK(try_receive(empty, 1, many) == EINVAL);
}

TEST_CASE("the limit event comes once, when fewer are left, and again when armed again", "[srq]") {
  rig r;
  shared_receive_queue srq(r.domain, 16);
  joined l(r, {.srq = &srq});
  for (std::uint64_t id = 0; id < 4; ++id) post(r, srq, id);
  CHECK(srq.limit() == 0);
  srq.arm_limit(3);
  CHECK(srq.limit() == 3);
  send(l);  // three are left, which is not below three
  CHECK_FALSE(next_event(r, quiet));
  send(l);
  const auto limit_event = [&] {
    const auto event = next_event(r);
    REQUIRE(event);
    CHECK(event->type == IBV_EVENT_SRQ_LIMIT_REACHED);
    CHECK(event->object == srq.native());
    CHECK_THAT(event->text, Catch::Contains(test::device_name()) && Catch::Contains("SRQ_LIMIT_REACHED"));
    CHECK(srq.limit() == 0);
  };
  limit_event();
  send(l);
  CHECK_FALSE(next_event(r, quiet));  // once

  for (std::uint64_t id = 4; id < 8; ++id) post(r, srq, id);
  srq.arm_limit(5);
  send(l);  // four are left
  limit_event();
  srq.arm_limit(4);
  srq.arm_limit(0);  // disarmed
  send(l);
  send(l);
  CHECK_FALSE(next_event(r, quiet));
  CHECK(test::error_of([&] { srq.arm_limit(srq.depth() + 100); }).code().value() == EINVAL);
  CHECK(test::error_of([&] { srq.close(); }).code().value() == EBUSY);
  l.right.close();
  srq.close();  // the event was acknowledged, so it does not keep the queue
}

TEST_CASE("a limit above the number of receives is reached by the next message", "[srq]") {
  rig r;
  shared_receive_queue srq(r.domain, 16);
  joined l(r, {.srq = &srq});
  for (std::uint64_t id = 0; id < 3; ++id) post(r, srq, id);
  srq.arm_limit(10);
  send(l);
  const auto event = next_event(r);
  REQUIRE(event);
  CHECK(event->type == IBV_EVENT_SRQ_LIMIT_REACHED);
}

TEST_CASE("a queue pair that fails takes no shared receives with it", "[srq]") {
  rig r;
  shared_receive_queue srq(r.domain, 16);
  joined failing(r, {.srq = &srq});
  joined healthy(r, {.srq = &srq});
  for (std::uint64_t id = 0; id < 3; ++id) post(r, srq, id);
  work(IBV_WR_RDMA_WRITE, {r.piece(0, 8)}).at(address(r, remote), r.buffer.rkey() + 0x100).post(failing.left);
  CHECK(next(failing.sends).status == IBV_WC_REM_ACCESS_ERR);
  CHECK(settled(failing.right, IBV_QPS_ERR) == IBV_QPS_ERR);
  CHECK(test::stays_empty(failing.arrivals, quiet));
  for (std::uint64_t id = 0; id < 3; ++id) {
    work(IBV_WR_SEND).post(healthy.left);
    CHECK(good(healthy.arrivals).wr_id == id);
    good(healthy.sends);
  }
}
