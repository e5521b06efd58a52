// The errors of the classes when a real device refuses. (Whether it refuses is tested in `conformance/`.)
#include <catch2/catch.hpp>

#include <chorale/verbs/address_handle.hpp>

#include "../../lib/verbs/async_event.hpp"
#include "../../lib/verbs/work_completion.hpp"
#include "support.hpp"

using Catch::Contains;
using namespace chorale::verbs;
using namespace std::chrono_literals;
using test::error_of;
using test::next_completion;

TEST_CASE("the error of a refused request names request and cause", "[device]") {
  test::connected c;
  ibv_sge piece = c.piece(0, 8);
  std::vector<char> large(c.left.inline_bytes() + 1);
  ibv_sge too_large{.addr = reinterpret_cast<std::uint64_t>(large.data()),
                    .length = static_cast<std::uint32_t>(large.size()),
                    .lkey = 0};
  ibv_send_wr wanted = test::request(IBV_WR_SEND, too_large);
  wanted.send_flags |= IBV_SEND_INLINE;
  CHECK_THAT(error_of([&] { c.left.post_send(wanted); }).what(), Contains("inline bytes"));

  // There are no receives, so all requests wait.
  wanted = test::request(IBV_WR_SEND, piece);
  std::uint32_t posted = 0;
  while (posted < 4 * c.left.send_depth() && c.left.try_post_send(wanted) == 0) ++posted;
  CHECK_THAT(error_of([&] { c.left.post_send(wanted); }).what(), Contains("send requests are outstanding"));
  c.left.to_error();
}

TEST_CASE("a peer that does not answer is named in the completion's text", "[device]") {
  test::rig r;
  queue_pair left(r.domain, r.options(IBV_QPT_RC));
  queue_pair right(r.domain, r.options(IBV_QPT_RC));
  r.connect(left, right, 0, {.timeout = 8, .retry = 1});
  right.close();
  ibv_sge piece = r.piece(0, 8);
  ibv_send_wr wanted = test::request(IBV_WR_SEND, piece);
  left.post_send(wanted);
  CHECK_THAT(describe(next_completion(r.queue), "send"),
             Contains("send on QP") && Contains("does not answer"));
}

TEST_CASE("an address that does not exist", "[device]") {
  test::rig r;
  ibv_ah_attr path = path_to(r.port, r.port.address);
  path.port_num = static_cast<std::uint8_t>(r.device.attributes().phys_port_cnt + 1);
  CHECK_THAT(error_of([&] { address_handle(r.domain, path); }).what(),
             Contains("ibv_create_ah") && Contains(test::device_name()));
}

TEST_CASE("a shared receive queue that is full, in use, or low", "[device]") {
  test::rig r;
  shared_receive_queue srq(r.domain, 4);
  completion_queue receives(r.device, 32);
  auto wanted = r.options(IBV_QPT_RC);
  wanted.recv = &receives;
  wanted.srq = &srq;
  queue_pair receiver(r.domain, wanted);
  queue_pair sender(r.domain, r.options(IBV_QPT_RC));
  r.connect(sender, receiver);
  r.connect(receiver, sender);
  ibv_recv_wr receive{.wr_id = 0};
  std::uint32_t posted = 0;
  while (posted < 4 * srq.depth() && srq.try_post_recv(receive) == 0) ++posted;
  CHECK_THAT(error_of([&] { srq.post_recv(receive); }).what(), Contains("ibv_post_srq_recv"));
  CHECK(error_of([&] { srq.close(); }).code().value() == EBUSY);

  srq.arm_limit(srq.depth());
  ibv_sge none{};
  ibv_send_wr send = test::request(IBV_WR_SEND, none);
  send.num_sge = 0;
  std::optional<async_event> event;
  for (std::uint32_t i = 0; i < posted && !event; ++i) {
    sender.post_send(send);
    REQUIRE(next_completion(receives).status == IBV_WC_SUCCESS);
    REQUIRE(next_completion(r.queue).status == IBV_WC_SUCCESS);
    event = next_async_event(r.device, 50ms);
    if (event && event->type == IBV_EVENT_COMM_EST) event.reset();
  }
  REQUIRE(event);
  CHECK(event->object == srq.native());
  CHECK_THAT(event->text, Contains(test::device_name()) && Contains("SRQ_LIMIT_REACHED"));
}
