// SPDX-License-Identifier: Apache-2.0
// Limits of a queue pair: pieces, inline bytes, depth; and how entries become free.
#include <cstring>

#include "scene.hpp"

using namespace conformance;

TEST_CASE("as many pieces as granted, and no more", "[limit]") {
  rig r;
  const auto most = static_cast<std::uint32_t>(r.device.attributes().max_sge);
  joined l(r, {.sges = most});
  const auto pieces_of = [&](std::uint32_t count, std::size_t where) {
    std::vector<ibv_sge> pieces;
    for (std::uint32_t i = 0; i < count; ++i) pieces.push_back(r.piece(where + 3 * i, 1));
    return pieces;
  };
  fill(r.buffer.span(), 3);
  for (const std::uint32_t count : {0U, 1U, 2U, most}) {
    INFO(count << " pieces");
    receive(l.right, count, pieces_of(count, remote));
    work(IBV_WR_SEND, pieces_of(count, 0)).post(l.left);
    CHECK(good(l.arrivals).byte_len == count);
    good(l.sends);
    for (std::size_t i = 0; i < count; ++i) CHECK(r.buffer.data()[3 * i] == r.buffer.data()[remote + 3 * i]);
  }
  CHECK(work(IBV_WR_SEND, pieces_of(most + 1, 0)).try_post(l.left) == EINVAL);
  CHECK(try_receive(l.right, 1, pieces_of(most + 1, remote)) == EINVAL);
  CHECK(l.left.state() == IBV_QPS_RTS);
  CHECK(test::stays_empty(l.sends, 1ms));
}

TEST_CASE("pieces of zero bytes do not count, whatever their key", "[limit]") {
  rig r;
  joined l(r);
  fill(r.buffer.span(), 4);
  const ibv_sge none{address(r, 0), 0, r.buffer.lkey()};
  receive(l.right, 1, {none, r.piece(remote, 5), none, r.piece(remote + 5, 20)});
  work(IBV_WR_SEND, {none, r.piece(0, 9), none, r.piece(9, 3)}).post(l.left);
  CHECK(good(l.arrivals).byte_len == 12);
  good(l.sends);
  CHECK(std::memcmp(r.buffer.data(), r.buffer.data() + remote, 12) == 0);
  receive(l.right, 2, {none, none});
  work(IBV_WR_SEND, {none, none, none}).post(l.left);
  CHECK(good(l.arrivals).byte_len == 0);
  good(l.sends);
}

TEST_CASE("inline data needs no key, and may be overwritten at once", "[limit]") {
  rig r;
  const auto type = GENERATE(IBV_QPT_RC, IBV_QPT_UC);
  joined l(r, {.type = type, .inline_bytes = 64});
  REQUIRE(l.left.inline_bytes() >= 64);
  const std::uint32_t most = l.left.inline_bytes();
  std::vector<std::byte> data(most + 1);
  const auto pieces = [&](std::uint32_t bytes) {
    // In two parts, if there are two bytes.
    const std::uint32_t half = bytes / 2;
    const auto at = reinterpret_cast<std::uint64_t>(data.data());
    return std::vector<ibv_sge>{{at, half, 0}, {at + half, bytes - half, 0xffffffff}};
  };
  constexpr unsigned flags = unsigned{IBV_SEND_INLINE} | IBV_SEND_SIGNALED;
  for (const std::uint32_t bytes : {0U, 1U, 7U, 64U, most}) {
    INFO(bytes << " inline bytes");
    fill(data, bytes);
    const auto meant = data;
    receive(l.right, 1, {r.piece(remote, 16384)});
    work(IBV_WR_RDMA_WRITE, pieces(bytes))
        .flags(flags)
        .at(address(r, remote + 16384), r.buffer.rkey())
        .post(l.left);
    work(IBV_WR_SEND, pieces(bytes)).flags(flags).post(l.left);
    std::fill(data.begin(), data.end(), std::byte{0xee});
    CHECK(good(l.arrivals).byte_len == bytes);
    good(l.sends);
    good(l.sends);
    CHECK(std::memcmp(r.buffer.data() + remote, meant.data(), bytes) == 0);
    CHECK(std::memcmp(r.buffer.data() + remote + 16384, meant.data(), bytes) == 0);
  }
  CHECK(work(IBV_WR_SEND, pieces(most + 1)).flags(flags).try_post(l.left) == EINVAL);
  CHECK(l.left.state() == IBV_QPS_RTS);
}

TEST_CASE("a program that never requests completions runs out of send queue entries", "[limit]") {
  rig r;
  joined l(r);
  const std::uint32_t depth = l.left.send_depth();
  std::uint32_t posted = 0;
  int result = 0;
  // With time in between: requests that have ended free no entries, polled completions do.
  while (posted < 2 * depth && (result = rdma(r, IBV_WR_RDMA_WRITE, 0, 8).flags(0).try_post(l.left)) == 0) {
    ++posted;
    if (posted % 8 == 0) chorale::clock::sleep_for(2ms);
  }
  CHECK(posted >= depth);
  holds("slots of requests that report nothing come back with a later completion only", posted == depth,
        {{"rxe", false, "Soft-RoCE frees a slot as soon as its request is done (rxe_comp.c: do_complete)"}});
  if (result != 0) CHECK(result == ENOMEM);
}

TEST_CASE("polling makes room for as much as has completed", "[limit]") {
  rig r;
  const bool all = GENERATE(false, true);
  joined l(r, {.signal_all = all});
  const std::uint32_t depth = l.left.send_depth();
  for (int round = 0; round < 3; ++round) {
    // Only the last one is signalled; its completion frees the whole queue.
    for (std::uint32_t i = 0; i < depth; ++i)
      rdma(r, IBV_WR_RDMA_WRITE, 0, 8)
          .id(i)
          .flags(i + 1 == depth ? unsigned{IBV_SEND_SIGNALED} : 0U)
          .post(l.left);
    if (all)
      for (std::uint32_t i = 0; i < depth; ++i) CHECK(good(l.sends).wr_id == i);
    else
      CHECK(good(l.sends).wr_id == depth - 1);
  }
  CHECK(test::stays_empty(l.sends, 1ms));
}

TEST_CASE("requests that wait keep their slots", "[limit]") {
  rig r;
  joined l(r, {.right = {.min_rnr_timer = 1}});
  const std::uint32_t depth = l.left.send_depth();
  for (std::uint32_t i = 0; i < depth; ++i) work(IBV_WR_SEND).id(i).post(l.left);  // there is no receive
  const int over = work(IBV_WR_SEND).id(depth).try_post(l.left);
  const bool more =
      !conforms("a send queue is as deep as it says", over, ENOMEM,
                {{"rxe", 0, "Soft-RoCE's rings are a power of two less one deep (rxe_queue.c)"}});
  CHECK(l.left.state() == IBV_QPS_RTS);
  const std::uint32_t posted = more ? depth + 1 : depth;
  for (std::uint32_t i = 0; i < depth; ++i) receive(l.right, i);
  for (std::uint32_t i = 0; i < depth; ++i) CHECK(good(l.arrivals).wr_id == i);
  for (std::uint32_t i = depth; i < posted; ++i) receive(l.right, i);
  for (std::uint32_t i = 0; i < posted; ++i) CHECK(good(l.sends).wr_id == i);
  receive(l.right, 99);
  work(IBV_WR_SEND).id(98).post(l.left);
  CHECK(good(l.sends).wr_id == 98);
}

TEST_CASE("a receive queue takes as many receives as granted", "[limit]") {
  rig r;
  joined l(r);
  const std::uint32_t depth = l.right.recv_depth();
  std::uint32_t posted = 0;
  int result = 0;
  while (posted < 4 * depth && (result = try_receive(l.right, posted, {r.piece(remote, 8)})) == 0) ++posted;
  CHECK(posted >= depth);
  CHECK(result == ENOMEM);
  holds("a receive queue is as deep as it says", posted == depth,
        {{"rxe", false, "Soft-RoCE's rings are a power of two less one deep (rxe_queue.c)"}});
  // One is taken, so one may be posted.
  work(IBV_WR_SEND, {r.piece(0, 8)}).post(l.left);
  good(l.arrivals);
  good(l.sends);
  CHECK(try_receive(l.right, posted) == 0);
  CHECK(try_receive(l.right, posted) == ENOMEM);
}

TEST_CASE("requests that a type of queue pair does not have are refused", "[limit]") {
  rig r;
  joined l(r, {.type = IBV_QPT_UC});
  for (const auto opcode : {IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_ATOMIC_CMP_AND_SWP}) {
    INFO("opcode " << opcode << " on UC");
    const int result = rdma(r, opcode, 0, 8).try_post(l.left);
    if (!conforms("a request that the type of queue pair does not have is refused when it is posted", result,
                  EINVAL,
                  {{"rxe", 0, "Soft-RoCE finds no opcode for it when it executes (rxe_req.c: next_opcode)"}}))
      CHECK(next(l.sends).status != IBV_WC_SUCCESS);
    if (result == 0) return;  // it is now in ERR
  }
}

TEST_CASE("a datagram queue pair has sends only", "[limit]") {
  rig r;
  queue_pair datagrams = r.datagram_pair();
  const address_handle way(r.domain, path_to(r.port, r.port.address));
  if (!conforms("an RDMA write on a datagram queue pair is refused when it is posted",
                work(IBV_WR_RDMA_WRITE, {r.piece(0, 8)}).to(way, 1).try_post(datagrams), EINVAL,
                {{"rxe", 0, "Soft-RoCE finds no opcode for it when it executes (rxe_req.c: next_opcode)"}}))
    CHECK(next(r.queue).status != IBV_WC_SUCCESS);
}

TEST_CASE("posting in states that cannot", "[limit]") {
  rig r;
  completion_queue queue(r.device, 16);
  queue_pair pair(r.domain, {.send = &queue, .recv = &queue});
  CHECK(try_receive(pair, 1) == EINVAL);
  CHECK(work(IBV_WR_SEND).try_post(pair) == EINVAL);
}
