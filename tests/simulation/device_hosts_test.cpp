// SPDX-License-Identifier: Apache-2.0
// sim0: many hosts, each with its own address.
#include <algorithm>
#include <functional>
#include <set>

#include "simulated_hosts.hpp"
#include "verbs/multicast_membership.hpp"

using namespace simulated;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t grh_bytes = 40;

/// A datagram queue pair in RTS.
verbs::queue_pair datagram_pair(endpoint& on) {
  verbs::queue_pair pair = on.pair(IBV_QPT_UD);
  pair.to_init({.port = 1, .qkey = qkey});
  pair.to_ready_to_receive();
  pair.to_ready_to_send(0);
  return pair;
}

ibv_send_wr datagram(const verbs::address_handle& to, std::uint32_t qpn, ibv_sge& piece) {
  ibv_send_wr wr = request(IBV_WR_SEND, piece);
  wr.wr.ud = {.ah = to.native(), .remote_qpn = qpn, .remote_qkey = qkey};
  return wr;
}

}  // namespace

TEST_CASE("a simulated thread has only sim0, with an address for each host", "[device]") {
  std::set<std::uint16_t> lids;
  std::set<std::uint64_t> guids;
  on_ranks(5, [&](int) {
    const auto there = verbs::list_devices();
    CHECK(there.size() == 1);
    CHECK(there.front().name == "sim0");
    const endpoint on;
    CHECK_FALSE(on.device.is_soft());
    lids.insert(on.port.address.lid);
    guids.insert(on.port.address.gid.global.interface_id);
  });
  CHECK(lids.size() == 5);
  CHECK(guids.size() == 5);
  for (const auto& info : verbs::list_devices()) CHECK(info.name != "sim0");
}

TEST_CASE("ranks of a host share its adapter", "[device]") {
  scheduler time;
  wire costs(small_machine(3), 3);
  const fabric all(time, costs, {6, 2});
  std::vector<std::uint16_t> lids;
  for (int rank = 0; rank < 6; ++rank)
    time.spawn("rank", rank, [&] { lids.push_back(endpoint().port.address.lid); });
  time.run();
  CHECK(lids == std::vector<std::uint16_t>{1, 1, 2, 2, 3, 3});
}

TEST_CASE("queue pairs are numbered on each host separately", "[device]") {
  on_hosts(2, [](fabric& all) {
    auto left = endpoint_on(all, 0);
    auto right = endpoint_on(all, 1);
    // Queue pairs of the same number on both hosts can be connected.
    verbs::queue_pair here = left->pair(), there = right->pair();
    CHECK(here.number() == there.number());
    connect(here, *left, there, *right);
    connect(there, *right, here, *left);
    left->buffer.data()[0] = std::byte{5};
    ibv_sge piece = left->piece(0, 1);
    ibv_send_wr wr = write_to(*right, 9, piece);
    here.post_send(wr);
    CHECK(next(left->queue).status == IBV_WC_SUCCESS);
    CHECK(right->buffer.data()[9] == std::byte{5});
    CHECK(left->buffer.data()[9] == std::byte{0});
  });
}

TEST_CASE("datagrams name their sender's host, and can be answered", "[device]") {
  const bool global = GENERATE(false, true);
  on_hosts(3, [&](fabric& all) {
    auto left = endpoint_on(all, 0);
    auto right = endpoint_on(all, 2);
    verbs::queue_pair here = datagram_pair(*left), there = datagram_pair(*right);
    ibv_ah_attr path = verbs::path_to(left->port, right->port.address);
    path.is_global = global ? 1 : 0;
    path.grh.dgid = right->port.address.gid;
    if (global) path.dlid = 0;
    const verbs::address_handle way(left->domain, path);
    post_receive(there, 1, right->piece(0, 100));
    post_receive(here, 2, left->piece(1000, 100));
    left->buffer.data()[0] = std::byte{7};
    ibv_sge piece = left->piece(0, 3);
    ibv_send_wr wr = datagram(way, there.number(), piece);
    here.post_send(wr);
    const ibv_wc got = next(right->queue);
    CHECK(got.byte_len == grh_bytes + 3);
    CHECK(got.slid == left->port.address.lid);
    CHECK(right->buffer.data()[grh_bytes] == std::byte{7});
    ibv_grh header{};
    std::memcpy(&header, right->buffer.data(), sizeof header);
    if (global) CHECK(std::memcmp(&header.sgid, &left->port.address.gid, sizeof header.sgid) == 0);
    const auto back = verbs::address_handle::from_completion(right->domain, got, header, 1);
    piece = right->piece(grh_bytes, 1);
    wr = datagram(back, got.src_qp, piece);
    there.post_send(wr);
    ibv_wc arrived = next(left->queue);
    if (arrived.opcode == IBV_WC_SEND) arrived = next(left->queue);
    CHECK(arrived.wr_id == 2);
    CHECK(left->buffer.data()[1000 + grh_bytes] == std::byte{7});
  });
}

TEST_CASE("a group's datagram reaches each member of each host once", "[device]") {
  constexpr int hosts = 6;
  on_hosts(hosts, [](fabric& all) {
    ibv_gid group{};
    group.raw[0] = 0xff;
    group.raw[15] = 3;
    std::vector<std::unique_ptr<endpoint>> at;
    std::vector<verbs::queue_pair> pairs;
    std::vector<verbs::multicast_membership> members;
    for (int host = 0; host < hosts; ++host) {
      at.push_back(endpoint_on(all, host));
      // Two on each host but the last.
      for (int i = 0; i < 2; ++i) {
        pairs.push_back(datagram_pair(*at.back()));
        post_receive(pairs.back(), 10, at.back()->piece(static_cast<std::size_t>(100 * i), 100));
        post_receive(pairs.back(), 11, at.back()->piece(static_cast<std::size_t>(100 * i), 100));
        if (host != hosts - 1) members.emplace_back(pairs.back(), group, 0);
      }
    }
    const verbs::address_handle way(at[1]->domain, verbs::path_to_group(at[1]->port, group));
    at[1]->buffer.data()[512] = std::byte{4};
    ibv_sge piece = at[1]->piece(512, 1);
    ibv_send_wr wr = datagram(way, 0xffffff, piece);
    wr.send_flags = 0;
    pairs[2].post_send(wr);
    all.time().sleep_until(all.time().now() + 100us);
    for (std::size_t host = 0; host < hosts; ++host) {
      ibv_wc room[8];
      const auto got = at[host]->queue.poll(room);
      CHECK(got.size() == (host == hosts - 1 ? 0U : 2U));
      for (const ibv_wc& one : got) CHECK(one.wr_id == 10);
      for (const std::size_t place : {grh_bytes, 100 + grh_bytes})
        CHECK(at[host]->buffer.data()[place] == (host == hosts - 1 ? std::byte{0} : std::byte{4}));
    }
  });
}

TEST_CASE("a wait for an event that cannot come ends with an error", "[device]") {
  on_ranks(1, [](int) {
    const verbs::device device = verbs::device::open("sim0");
    const verbs::completion_channel channel(device);
    CHECK_THROWS_WITH(static_cast<void>(channel.get_event()), Catch::Contains("deadlock"));
  });
}

TEST_CASE("closing a context takes its queue pairs out of service", "[device]") {
  on_hosts(2, [](fabric& all) {
    auto left = endpoint_on(all, 0);
    auto right = endpoint_on(all, 1);
    const verbs::driver& calls = left->device.provider();
    ibv_context* const context = calls.open_device(&all.at(1).device());
    REQUIRE(context != nullptr);
    ibv_pd* const domain = calls.alloc_pd(context);
    ibv_cq* const queue = calls.create_cq(context, 16, nullptr, nullptr, 0);
    ibv_qp_init_attr wanted{};
    wanted.send_cq = wanted.recv_cq = queue;
    wanted.qp_type = IBV_QPT_RC;
    ibv_qp* const there = calls.create_qp(domain, &wanted);
    REQUIRE(there != nullptr);
    verbs::queue_pair here = left->pair();
    verbs::connection peer{.remote_qp = there->qp_num, .timeout = 1, .retry = 1};
    peer.path = verbs::path_to(left->port, right->port.address);
    here.to_init({.port = 1});
    here.to_ready_to_receive(peer);
    here.to_ready_to_send(peer);
    CHECK(calls.close_device(context) == 0);
    CHECK(there->state == IBV_QPS_RESET);
    ibv_sge piece = left->piece(0, 1);
    ibv_send_wr wr = request(IBV_WR_SEND, piece);
    here.post_send(wr);
    CHECK(next(left->queue).status == IBV_WC_RETRY_EXC_ERR);
    // The remaining objects can still be destroyed.
    CHECK(calls.destroy_qp(there) == 0);
    CHECK(calls.destroy_cq(queue) == 0);
    CHECK(calls.dealloc_pd(domain) == 0);
  });
}

TEST_CASE("a rank that dies, or whose adapter fails, does not send the rest of a long message", "[device]") {
  const auto arrives = [](const std::function<void(fabric&)>& happens) {
    machine m = small_machine(2);
    m.adapter.burst = 16384;
    bool arrived = false;
    on_machine(m, [&](fabric& all) {
      constexpr std::size_t bytes = 1 << 20;
      auto from = endpoint_on(all, 0, bytes);
      auto to = endpoint_on(all, 1, bytes);
      verbs::queue_pair here = from->pair(), there = to->pair();
      connect(here, *from, there, *to);
      connect(there, *to, here, *from);
      std::fill_n(from->buffer.data(), bytes, std::byte{6});
      ibv_sge piece = from->piece(0, bytes);
      ibv_send_wr wr = write_to(*to, 0, piece);
      here.post_send(wr);
      all.time().sleep_until(all.time().now() + 40us);  // half of it has left
      happens(all);
      all.time().sleep_until(all.time().now() + 1ms);
      arrived = std::any_of(to->buffer.data(), to->buffer.data() + bytes,
                            [](std::byte b) { return b == std::byte{6}; });
    });
    return arrived;
  };
  CHECK(arrives([](fabric&) {}));
  CHECK_FALSE(arrives([](fabric& all) { all.abandon(0); }));
  CHECK_FALSE(arrives([](fabric& all) { all.fail(0); }));
}
