// UD: address handles, replies to a sender, multicast.
#include <arpa/inet.h>
#include <cstring>

#include <catch2/catch.hpp>

#include <chorale/verbs/address_handle.hpp>
#include <chorale/verbs/multicast_membership.hpp>
#include <chorale/verbs/work_completion.hpp>

#include "support.hpp"

using Catch::Contains;
using namespace chorale::verbs;
using test::next_completion;

namespace {

constexpr std::uint32_t grh_bytes = 40;

void post_receive(test::rig& r, queue_pair& pair, std::size_t offset, std::uint64_t id) {
  ibv_sge into = r.piece(offset, grh_bytes + 256);
  ibv_recv_wr receive{.wr_id = id, .next = nullptr, .sg_list = &into, .num_sge = 1};
  pair.post_recv(receive);
}

void send(test::rig& r, queue_pair& from, const address_handle& way, std::uint32_t to, const char* words,
          std::uint32_t key = test::qkey) {
  std::strcpy(reinterpret_cast<char*>(r.buffer.data()), words);
  ibv_sge piece = r.piece(0, static_cast<std::uint32_t>(std::strlen(words) + 1));
  ibv_send_wr wanted = test::request(IBV_WR_SEND, piece);
  wanted.wr.ud.ah = way.native();
  wanted.wr.ud.remote_qpn = to;
  wanted.wr.ud.remote_qkey = key;
  from.post_send(wanted);
  const ibv_wc sent = next_completion(r.queue);
  INFO(describe(sent));
  REQUIRE(sent.status == IBV_WC_SUCCESS);
}

std::string text_at(const test::rig& r, std::size_t offset) {
  return reinterpret_cast<const char*>(r.buffer.data() + offset + grh_bytes);
}

}  // namespace

TEST_CASE("a datagram arrives behind 40 bytes, and is answered by its completion", "[device]") {
  test::rig r;
  completion_queue left_receives(r.device, 16), right_receives(r.device, 16);
  queue_pair left = r.datagram_pair(&left_receives);
  queue_pair right = r.datagram_pair(&right_receives);
  post_receive(r, right, 4096, 1);
  post_receive(r, left, 8192, 2);
  const address_handle way(r.domain, path_to(r.port, r.port.address));
  send(r, left, way, right.number(), "hello");
  const ibv_wc got = next_completion(right_receives);
  REQUIRE(got.status == IBV_WC_SUCCESS);
  CHECK(got.byte_len == grh_bytes + 6);
  CHECK(got.src_qp == left.number());
  CHECK(got.qp_num == right.number());
  CHECK(text_at(r, 4096) == "hello");
  CHECK(((got.wc_flags & IBV_WC_GRH) != 0) == (path_to(r.port, r.port.address).is_global != 0));

  ibv_grh header{};
  std::memcpy(&header, r.buffer.data() + 4096, sizeof header);
  address_handle back = address_handle::from_completion(r.domain, got, header, r.port.number);
  send(r, right, back, got.src_qp, "hello yourself");
  REQUIRE(next_completion(left_receives).status == IBV_WC_SUCCESS);
  CHECK(text_at(r, 8192) == "hello yourself");
  back.close();
}

TEST_CASE("datagrams with another Q_Key, to nobody, or without a receive vanish", "[device]") {
  test::rig r;
  completion_queue receives(r.device, 16);
  queue_pair left = r.datagram_pair();
  queue_pair right = r.datagram_pair(&receives);
  const address_handle way(r.domain, path_to(r.port, r.port.address));
  send(r, left, way, right.number(), "without a receive");
  post_receive(r, right, 4096, 1);
  send(r, left, way, right.number(), "another key", test::qkey + 1);
  queue_pair gone = r.datagram_pair();
  const auto number = gone.number();
  gone.close();
  send(r, left, way, number, "to nobody");
  CHECK(test::stays_empty(receives, std::chrono::milliseconds{20}));
  send(r, left, way, right.number(), "at last");
  REQUIRE(next_completion(receives).status == IBV_WC_SUCCESS);
  CHECK(text_at(r, 4096) == "at last");
}

TEST_CASE("an address that does not exist is refused", "[device]") {
  test::rig r;
  ibv_ah_attr path = path_to(r.port, r.port.address);
  path.port_num = static_cast<std::uint8_t>(r.device.attributes().phys_port_cnt + 1);
  CHECK_THAT(test::error_of([&] { address_handle(r.domain, path); }).what(),
             Contains("ibv_create_ah") && Contains(test::device_name()));
}

TEST_CASE("multicast reaches every member, the sender too, until it leaves", "[device]") {
  test::rig r;
  if (!r.device.is_soft())
    return test::skip("a group of a real port must be joined through the subnet manager or IGMP first");
  ibv_gid group{};
  REQUIRE(inet_pton(AF_INET6, "ff12::c0:7a1e", group.raw) == 1);
  completion_queue queues[3] = {{r.device, 16}, {r.device, 16}, {r.device, 16}};
  queue_pair pairs[3] = {r.datagram_pair(&queues[0]), r.datagram_pair(&queues[1]),
                         r.datagram_pair(&queues[2])};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = 0; k < 2; ++k) post_receive(r, pairs[i], 4096 * (1 + i) + 512 * k, k);
  multicast_membership sender(pairs[0], group, 0xc001);
  multicast_membership member(pairs[1], group, 0xc001);
  const address_handle way(r.domain, path_to_group(r.port, group, 0xc001));
  send(r, pairs[0], way, 0xffffff, "to all");
  for (std::size_t i = 0; i < 2; ++i) {
    const ibv_wc got = next_completion(queues[i]);
    REQUIRE(got.status == IBV_WC_SUCCESS);
    CHECK((got.wc_flags & IBV_WC_GRH) != 0);
    CHECK(got.src_qp == pairs[0].number());
    CHECK(text_at(r, 4096 * (1 + i)) == "to all");
    ibv_grh header{};
    std::memcpy(&header, r.buffer.data() + 4096 * (1 + i), sizeof header);
    CHECK(to_string(header.dgid) == to_string(group));
    CHECK(to_string(header.sgid) == to_string(r.port.address.gid));
  }
  CHECK(test::stays_empty(queues[2], std::chrono::milliseconds{5}));

  member.close();
  send(r, pairs[0], way, 0xffffff, "fewer");
  REQUIRE(next_completion(queues[0]).status == IBV_WC_SUCCESS);
  CHECK(test::stays_empty(queues[1], std::chrono::milliseconds{5}));

  CHECK(test::error_of([&] { pairs[0].close(); }).code().value() == EBUSY);
  sender.close();
  pairs[0].close();
}
