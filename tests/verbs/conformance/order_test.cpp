// SPDX-License-Identifier: Apache-2.0
// The order in which requests complete and data appear, and which requests have completions.
#include <algorithm>
#include <map>

#include "scene.hpp"

using namespace conformance;

TEST_CASE("requests of one send queue complete in the order of posting, whatever they are", "[order]") {
  rig r;
  joined l(r, {.left = {.max_rd_atomic = 4}, .right = {.max_dest_rd_atomic = 4}, .send_depth = 32});
  const bool atomics = r.device.attributes().atomic_cap != IBV_ATOMIC_NONE;
  for (std::uint64_t id = 0; id < 8; ++id) receive(l.right, 100 + id, {r.piece(remote + 4096, 64)});
  std::vector<std::uint64_t> posted;
  std::uint64_t id = 0;
  const auto add = [&](work one) {
    one.id(++id).post(l.left);
    posted.push_back(id);
  };
  for (int round = 0; round < 4; ++round) {
    add(rdma(r, IBV_WR_RDMA_WRITE, 0, 8000));
    add(rdma(r, IBV_WR_RDMA_READ, 8192, 100));
    add(work(IBV_WR_SEND, {r.piece(0, 1)}));
    add(rdma(r, IBV_WR_RDMA_READ, 8192, 9000));
    add(rdma(r, IBV_WR_RDMA_WRITE, 0, 0));
    if (atomics) add(rdma(r, IBV_WR_ATOMIC_FETCH_AND_ADD, 16384, 8, remote + 8192));
    add(rdma(r, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 5));
  }
  for (const std::uint64_t expected : posted) CHECK(good(l.sends).wr_id == expected);
  for (std::uint64_t i = 0; i < 8; ++i) {
    const ibv_wc got = good(l.arrivals);
    CHECK(got.wr_id == 100 + i);  // receives are taken in the order of posting
    CHECK(got.opcode == (i % 2 == 0 ? IBV_WC_RECV : IBV_WC_RECV_RDMA_WITH_IMM));
  }
}

TEST_CASE("unsignalled requests have no completion, and have ended when a later one has", "[order]") {
  rig r;
  const auto type = GENERATE(IBV_QPT_RC, IBV_QPT_UC);
  joined l(r, {.type = type});
  for (std::uint64_t round = 0; round < 5; ++round) {
    std::fill_n(r.buffer.data(), 6, static_cast<std::byte>(round + 1));
    for (std::uint64_t i = 0; i < 5; ++i)
      rdma(r, IBV_WR_RDMA_WRITE, i, 1, remote + i).id(10 * round + i).flags(0).post(l.left);
    rdma(r, IBV_WR_RDMA_WRITE, 5, 1, remote + 5).id(10 * round + 5).post(l.left);
    CHECK(good(l.sends).wr_id == 10 * round + 5);
    if (type == IBV_QPT_RC)
      CHECK(std::all_of(r.buffer.data() + remote, r.buffer.data() + remote + 6,
                        [&](std::byte b) { return b == static_cast<std::byte>(round + 1); }));
  }
  CHECK(test::stays_empty(l.sends, quiet));
}

TEST_CASE("a queue pair that signals all requests completes all", "[order]") {
  rig r;
  joined l(r, {.signal_all = true});
  for (std::uint64_t i = 0; i < 8; ++i)
    rdma(r, IBV_WR_RDMA_WRITE, 0, 1).id(i).flags(i % 2 == 0 ? 0U : unsigned{IBV_SEND_SIGNALED}).post(l.left);
  for (std::uint64_t i = 0; i < 8; ++i) CHECK(good(l.sends).wr_id == i);
  CHECK(test::stays_empty(l.sends, quiet));
}

TEST_CASE("a chain is posted by one call, up to the first that cannot be", "[order]") {
  rig r;
  joined l(r);
  std::vector<ibv_sge> too_many(static_cast<std::size_t>(r.device.attributes().max_sge) + 20, r.piece(0, 1));
  ibv_sge pieces[3] = {r.piece(0, 1), r.piece(1, 1), r.piece(2, 1)};
  ibv_send_wr chain[4]{};
  for (std::size_t i = 0; i < 4; ++i) {
    chain[i] = test::request(IBV_WR_RDMA_WRITE, pieces[i % 3]);
    chain[i].wr_id = i;
    chain[i].wr.rdma.remote_addr = address(r, remote + i);
    chain[i].wr.rdma.rkey = r.buffer.rkey();
    chain[i].next = i == 3 ? nullptr : &chain[i + 1];
  }
  chain[2].sg_list = too_many.data();
  chain[2].num_sge = static_cast<int>(too_many.size());
  ibv_send_wr* bad = nullptr;
  CHECK(l.left.try_post_send(chain[0], &bad) == EINVAL);
  CHECK(bad == &chain[2]);
  CHECK(good(l.sends).wr_id == 0);
  CHECK(good(l.sends).wr_id == 1);
  CHECK(test::stays_empty(l.sends, quiet));
  CHECK(l.left.state() == IBV_QPS_RTS);

  ibv_recv_wr receives[3]{};
  for (std::size_t i = 0; i < 3; ++i)
    receives[i] = {.wr_id = i, .next = i == 2 ? nullptr : &receives[i + 1], .sg_list = nullptr, .num_sge = 0};
  receives[1].sg_list = too_many.data();
  receives[1].num_sge = static_cast<int>(too_many.size());
  ibv_recv_wr* bad_receive = nullptr;
  CHECK(l.right.try_post_recv(receives[0], &bad_receive) == EINVAL);
  CHECK(bad_receive == &receives[1]);
  work(IBV_WR_SEND).post(l.left);
  CHECK(good(l.arrivals).wr_id == 0);
  good(l.sends);
}

TEST_CASE("several queue pairs share completion queues without mixing up", "[order]") {
  rig r;
  constexpr std::size_t count = 4;
  completion_queue sends(r.device, 256), arrivals(r.device, 256);
  std::vector<queue_pair> left, right;
  for (std::size_t i = 0; i < count; ++i) {
    left.emplace_back(r.domain, queue_pair_options{.send = &sends, .recv = &arrivals});
    right.emplace_back(r.domain, queue_pair_options{.send = &sends, .recv = &arrivals});
  }
  for (std::size_t i = 0; i < count; ++i) {
    r.connect(left[i], right[i]);
    r.connect(right[i], left[i]);
  }
  constexpr std::uint64_t each = 8;
  for (std::uint64_t k = 0; k < each; ++k)
    for (std::size_t i = 0; i < count; ++i) receive(right[i], k, {r.piece(remote + 64 * i, 64)});
  for (std::uint64_t k = 0; k < each; ++k)
    for (std::size_t i = 0; i < count; ++i)
      work(IBV_WR_SEND, {r.piece(0, static_cast<std::uint32_t>(i + 1))}).id(k).post(left[i]);
  std::map<std::uint32_t, std::uint64_t> sent, arrived;
  for (std::uint64_t k = 0; k < each * count; ++k) {
    const ibv_wc done = good(sends);
    CHECK(done.opcode == IBV_WC_SEND);
    CHECK(done.wr_id == sent[done.qp_num]++);  // in order for each queue pair
    const ibv_wc got = good(arrivals);
    CHECK(got.opcode == IBV_WC_RECV);
    CHECK(got.wr_id == arrived[got.qp_num]++);
    for (std::size_t i = 0; i < count; ++i)
      if (got.qp_num == right[i].number()) CHECK(got.byte_len == i + 1);
  }
  for (std::size_t i = 0; i < count; ++i) {
    CHECK(sent[left[i].number()] == each);
    CHECK(arrived[right[i].number()] == each);
  }
}

TEST_CASE("send and receive completions of one queue pair go to their queues", "[order]") {
  rig r;
  completion_queue sends(r.device, 16), receives(r.device, 16), other(r.device, 16);
  queue_pair left(r.domain, {.send = &sends, .recv = &receives});
  queue_pair right(r.domain, {.send = &other, .recv = &other});
  r.connect(left, right);
  r.connect(right, left);
  receive(left, 11);
  receive(right, 12);
  work(IBV_WR_SEND).id(13).post(left);
  work(IBV_WR_SEND).id(14).post(right);
  CHECK(good(sends).wr_id == 13);
  CHECK(good(receives).wr_id == 11);
  std::vector<std::uint64_t> both{good(other).wr_id, good(other).wr_id};
  std::sort(both.begin(), both.end());
  CHECK(both == std::vector<std::uint64_t>{12, 14});
}

TEST_CASE("a message arrives after the writes before it", "[order]") {
  rig r;
  const auto type = GENERATE(IBV_QPT_RC, IBV_QPT_UC);
  joined l(r, {.type = type});
  constexpr std::uint32_t bytes = 12'000;
  for (unsigned round = 1; round <= 20; ++round) {
    fill(r.buffer.span().first(bytes), round);
    receive(l.right, round);
    rdma(r, IBV_WR_RDMA_WRITE, 0, bytes).flags(0).post(l.left);
    work(IBV_WR_SEND).id(round).post(l.left);
    CHECK(good(l.arrivals).wr_id == round);
    CHECK(std::equal(r.buffer.data(), r.buffer.data() + bytes, r.buffer.data() + remote));
    good(l.sends);
  }
}

TEST_CASE("later writes replace earlier ones to the same address", "[order]") {
  rig r;
  const auto type = GENERATE(IBV_QPT_RC, IBV_QPT_UC);
  joined l(r, {.type = type});
  for (std::size_t i = 0; i < 14; ++i)
    std::fill_n(r.buffer.data() + 2000 * i, 2000, static_cast<std::byte>(i));
  for (int round = 0; round < 5; ++round) {
    receive(l.right, 1);
    for (std::size_t i = 0; i < 14; ++i) rdma(r, IBV_WR_RDMA_WRITE, 2000 * i, 2000).flags(0).post(l.left);
    work(IBV_WR_SEND).post(l.left);
    good(l.arrivals);
    good(l.sends);
    CHECK(std::all_of(r.buffer.data() + remote, r.buffer.data() + remote + 2000,
                      [](std::byte b) { return b == std::byte{13}; }));
  }
}

TEST_CASE("a fenced request sees the data of earlier reads", "[order]") {
  rig r;
  joined l(r, {.left = {.max_rd_atomic = 2}, .right = {.max_dest_rd_atomic = 2}});
  constexpr std::uint32_t bytes = 9000;
  for (unsigned round = 0; round < 10; ++round) {
    fill(r.buffer.span().subspan(remote, bytes), round);
    std::fill_n(r.buffer.data(), bytes, std::byte{0});
    // Reads into offset 0, and writes offset 0 back elsewhere: after the fence it holds the data read.
    rdma(r, IBV_WR_RDMA_READ, 0, bytes).flags(0).post(l.left);
    rdma(r, IBV_WR_RDMA_WRITE, 0, bytes, remote + 16384)
        .flags(unsigned{IBV_SEND_FENCE} | IBV_SEND_SIGNALED)
        .post(l.left);
    good(l.sends);
    CHECK(std::equal(r.buffer.data() + remote, r.buffer.data() + remote + bytes,
                     r.buffer.data() + remote + 16384));
  }
}
