// Receives that several queue pairs share, and the event when few are left.
#include <catch2/catch.hpp>

#include <chorale/verbs/async_event.hpp>
#include <chorale/verbs/work_completion.hpp>

#include "support.hpp"

using Catch::Contains;
using namespace chorale::verbs;
using test::next_completion;
using namespace std::chrono_literals;

namespace {

void post(test::rig& r, shared_receive_queue& srq, std::uint64_t id) {
  ibv_sge into = r.piece(32 * 1024 + 64 * static_cast<std::size_t>(id), 64);
  ibv_recv_wr receive{.wr_id = id, .next = nullptr, .sg_list = &into, .num_sge = 1};
  srq.post_recv(receive);
}

}  // namespace

TEST_CASE("queue pairs draw from one shared receive queue", "[device]") {
  test::rig r;
  shared_receive_queue srq(r.domain, 8);
  CHECK(srq.depth() >= 8);
  CHECK(srq.sges() >= 1);
  completion_queue receives(r.device, 32);
  auto wanted = r.options(IBV_QPT_RC);
  wanted.recv = &receives;
  wanted.srq = &srq;
  queue_pair receivers[2] = {{r.domain, wanted}, {r.domain, wanted}};
  queue_pair senders[2] = {{r.domain, r.options(IBV_QPT_RC)}, {r.domain, r.options(IBV_QPT_RC)}};
  for (std::size_t i = 0; i < 2; ++i) {
    r.connect(senders[i], receivers[i]);
    r.connect(receivers[i], senders[i]);
  }
  for (std::uint64_t id = 0; id < 4; ++id) post(r, srq, id);
  for (std::uint64_t round = 0; round < 4; ++round) {
    const std::size_t which = round % 2;
    r.buffer.data()[0] = static_cast<std::byte>(round + 1);
    ibv_sge piece = r.piece(0, 1);
    ibv_send_wr send = test::request(IBV_WR_SEND, piece);
    senders[which].post_send(send);
    const ibv_wc got = next_completion(receives);
    INFO(describe(got));
    REQUIRE(got.status == IBV_WC_SUCCESS);
    CHECK(got.wr_id == round);  // in the order of posting, whoever takes it
    CHECK(got.qp_num == receivers[which].number());
    CHECK(r.buffer.data()[32 * 1024 + 64 * round] == static_cast<std::byte>(round + 1));
    CHECK(next_completion(r.queue).status == IBV_WC_SUCCESS);
  }
  ibv_recv_wr receive{};
  CHECK(receivers[0].try_post_recv(receive) == EINVAL);
  CHECK(test::error_of([&] { srq.close(); }).code().value() == EBUSY);
}

TEST_CASE("a shared receive queue fills up", "[device]") {
  test::rig r;
  shared_receive_queue srq(r.domain, 4);
  ibv_sge into = r.piece(0, 64);
  ibv_recv_wr receive{.wr_id = 0, .next = nullptr, .sg_list = &into, .num_sge = 1};
  std::uint32_t posted = 0;
  while (posted < 4 * srq.depth() && srq.try_post_recv(receive) == 0) ++posted;
  // Real devices may have more room than they grant.
  CHECK(posted >= srq.depth());
  if (r.device.is_soft()) CHECK(posted == srq.depth());
  CHECK_THAT(test::error_of([&] { srq.post_recv(receive); }).what(), Contains("ibv_post_srq_recv"));
}

TEST_CASE("the limit event comes once", "[device]") {
  test::rig r;
  shared_receive_queue srq(r.domain, 8);
  completion_queue receives(r.device, 32);
  auto wanted = r.options(IBV_QPT_RC);
  wanted.recv = &receives;
  wanted.srq = &srq;
  queue_pair receiver(r.domain, wanted);
  queue_pair sender(r.domain, r.options(IBV_QPT_RC));
  r.connect(sender, receiver);
  r.connect(receiver, sender);
  for (std::uint64_t id = 0; id < 4; ++id) post(r, srq, id);
  CHECK(srq.limit() == 0);
  srq.arm_limit(3);
  CHECK(srq.limit() == 3);
  const auto send = [&] {
    ibv_sge piece = r.piece(0, 1);
    ibv_send_wr one = test::request(IBV_WR_SEND, piece);
    sender.post_send(one);
    REQUIRE(next_completion(receives).status == IBV_WC_SUCCESS);
    REQUIRE(next_completion(r.queue).status == IBV_WC_SUCCESS);
  };
  send();  // three are left, which is not below three
  CHECK_FALSE(next_async_event(r.device, 5ms));
  send();
  const auto limit_event = [&] {
    // A queue pair may first report that its connection is established.
    for (;;) {
      const auto event = next_async_event(r.device, 2s);
      if (!event || event->type != IBV_EVENT_COMM_EST) return event;
    }
  };
  const auto event = limit_event();
  REQUIRE(event);
  CHECK(event->type == IBV_EVENT_SRQ_LIMIT_REACHED);
  CHECK(event->object == srq.native());
  CHECK_THAT(event->text, Contains(test::device_name()) && Contains("SRQ_LIMIT_REACHED"));
  CHECK(srq.limit() == 0);
  send();
  CHECK_FALSE(next_async_event(r.device, 5ms));
  receiver.close();
  srq.close();  // the event was acknowledged, so nothing keeps it
}
