// SPDX-License-Identifier: Apache-2.0
// A message without a receive: reliable senders wait and retry, unreliable ones lose it.
#include <cstring>

#include "scene.hpp"

using namespace conformance;

TEST_CASE("a reliable sender waits for a receive, and later requests wait", "[rnr]") {
  rig r;
  joined l(r, {.left = {.rnr_retry = 7}, .right = {.min_rnr_timer = 1}});
  r.buffer.data()[0] = std::byte{7};
  const auto opcode = GENERATE(IBV_WR_SEND, IBV_WR_RDMA_WRITE_WITH_IMM);
  INFO("opcode " << opcode);
  if (opcode == IBV_WR_SEND)
    work(opcode, {r.piece(0, 8)}).id(1).post(l.left);
  else
    rdma(r, opcode, 0, 8).id(1).post(l.left);
  rdma(r, IBV_WR_RDMA_WRITE, 0, 1, remote + 64).id(2).post(l.left);
  CHECK(test::stays_empty(l.sends, quiet));
  CHECK(r.buffer.data()[remote + 64] == std::byte{0});
  receive(l.right, 9, {r.piece(remote, 8)});
  CHECK(good(l.arrivals).wr_id == 9);
  CHECK(good(l.sends).wr_id == 1);
  CHECK(good(l.sends).wr_id == 2);
  CHECK(r.buffer.data()[remote] == std::byte{7});
  CHECK(r.buffer.data()[remote + 64] == std::byte{7});
}

TEST_CASE("a request that waits for a receive keeps its inline data", "[rnr]") {
  rig r;
  joined l(r, {.right = {.min_rnr_timer = 1}});
  char words[32] = "the quick brown fox";
  const std::vector<ibv_sge> piece{{reinterpret_cast<std::uint64_t>(words), sizeof words, 0}};
  work(IBV_WR_SEND, piece).flags(unsigned{IBV_SEND_INLINE} | IBV_SEND_SIGNALED).post(l.left);
  std::memset(words, 'x', sizeof words);
  CHECK(test::stays_empty(l.sends, quiet));
  receive(l.right, 1, {r.piece(remote, 64)});
  good(l.arrivals);
  good(l.sends);
  CHECK(std::strcmp(reinterpret_cast<const char*>(r.buffer.data() + remote), "the quick brown fox") == 0);
}

TEST_CASE("a limited number of retries ends", "[rnr]") {
  rig r;
  const auto retries = static_cast<std::uint8_t>(GENERATE(0, 1, 3));
  INFO("rnr_retry " << int{retries});
  joined l(r, {.left = {.rnr_retry = retries}, .right = {.min_rnr_timer = 1}});
  work(IBV_WR_SEND, {r.piece(0, 8)}).id(1).flags(0).post(l.left);
  rdma(r, IBV_WR_RDMA_WRITE, 0, 8).id(2).flags(0).post(l.left);
  const ibv_wc failed = next(l.sends);
  CHECK(failed.status == IBV_WC_RNR_RETRY_EXC_ERR);
  CHECK(failed.wr_id == 1);
  const ibv_wc flushed = next(l.sends);
  CHECK(flushed.status == IBV_WC_WR_FLUSH_ERR);
  CHECK(flushed.wr_id == 2);
  CHECK(settled(l.left, IBV_QPS_ERR) == IBV_QPS_ERR);
  CHECK(l.right.state() == IBV_QPS_RTS);  // the receiver made no mistake
  // And the message does not arrive later.
  receive(l.right, 9, {r.piece(remote, 8)});
  CHECK(test::stays_empty(l.arrivals, quiet));
}

TEST_CASE("unreliable messages without a receive are lost, and the next ones are not", "[rnr]") {
  rig r;
  joined l(r, {.type = IBV_QPT_UC});
  r.buffer.data()[0] = std::byte{1};
  r.buffer.data()[1] = std::byte{2};
  work(IBV_WR_SEND, {r.piece(0, 1)}).post(l.left);
  good(l.sends);
  rdma(r, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 1).post(l.left);
  good(l.sends);
  CHECK(test::stays_empty(l.arrivals, quiet));
  receive(l.right, 9, {r.piece(remote + 64, 8)});
  CHECK(test::stays_empty(l.arrivals, quiet));  // lost messages stay lost
  work(IBV_WR_SEND, {r.piece(1, 1)}).post(l.left);
  CHECK(good(l.arrivals).wr_id == 9);
  good(l.sends);
  CHECK(r.buffer.data()[remote + 64] == std::byte{2});
  CHECK(l.left.state() == IBV_QPS_RTS);
  CHECK(l.right.state() == IBV_QPS_RTS);
}

TEST_CASE("a receive for which many senders wait serves one", "[rnr]") {
  rig r;
  shared_receive_queue srq(r.domain, 16);
  joined a(r, {.right = {.min_rnr_timer = 1}, .srq = &srq});
  joined b(r, {.right = {.min_rnr_timer = 1}, .srq = &srq});
  work(IBV_WR_SEND, {r.piece(0, 8)}).post(a.left);
  work(IBV_WR_SEND, {r.piece(0, 8)}).post(b.left);
  CHECK(test::stays_empty(a.sends, quiet));
  CHECK(test::stays_empty(b.sends, 1ms));
  receive(srq, 1, {r.piece(remote, 8)});
  const auto end = chorale::clock::now() + 60s;
  std::size_t served = 0;
  ibv_wc room[4];
  while (served == 0 && chorale::clock::now() < end)
    served = a.arrivals.poll(room).size() + b.arrivals.poll(room).size();
  CHECK(served == 1);
  CHECK(test::stays_empty(a.arrivals, quiet));
  CHECK(test::stays_empty(b.arrivals, 1ms));
  receive(srq, 2, {r.piece(remote, 8)});
  good(a.sends);
  good(b.sends);
  CHECK(all_of(a.arrivals).size() + all_of(b.arrivals).size() == 1);
}
