// SPDX-License-Identifier: Apache-2.0
// The number of reads and atomic operations in flight: max_rd_atomic, max_dest_rd_atomic.
#include <algorithm>

#include "scene.hpp"

using namespace conformance;

namespace {

constexpr const char* never = "nothing";

/// The outcome of one read; "nothing" if it neither completes nor fails.
std::string outcome_of(rig& r, joined& l) {
  rdma(r, IBV_WR_RDMA_READ, 0, 64).post(l.left);
  const auto end = chorale::clock::now() + (device_family() == "soft" ? 60s : 2s);
  ibv_wc done{};
  while (l.sends.poll({&done, 1}).empty())
    if (chorale::clock::now() > end) return never;
  return std::string{to_string(done.status)};
}

}  // namespace

TEST_CASE("a requester without reads in flight allowed cannot read", "[read]") {
  rig r;
  joined l(r, {.left = {.max_rd_atomic = 0}, .right = {.max_dest_rd_atomic = 1}});
  conforms("a read on a queue pair with max_rd_atomic 0", outcome_of(r, l), std::string{"LOC_QP_OP_ERR"},
           {{"rxe", never, "Soft-RoCE holds it back for ever (rxe_req.c: check_init_depth)"}});
}

TEST_CASE("a responder that has no resources for reads refuses them", "[read]") {
  rig r;
  joined l(r, {.left = {.max_rd_atomic = 1}, .right = {.max_dest_rd_atomic = 0}});
  CHECK(outcome_of(r, l) == "REM_INV_REQ_ERR");
  CHECK(settled(l.right, IBV_QPS_ERR) == IBV_QPS_ERR);
}

TEST_CASE("writes need no resources of reads", "[read]") {
  rig r;
  joined l(r, {.left = {.max_rd_atomic = 0}, .right = {.max_dest_rd_atomic = 0}});
  rdma(r, IBV_WR_RDMA_WRITE, 0, 64).post(l.left);
  good(l.sends);
  receive(l.right, 1);
  work(IBV_WR_SEND).post(l.left);
  good(l.sends);
}

TEST_CASE("reads beyond the limit in flight wait", "[read]") {
  rig r;
  const auto depth = static_cast<std::uint8_t>(GENERATE(1, 2, 8));
  INFO("max_rd_atomic " << int{depth});
  joined l(r, {.left = {.max_rd_atomic = depth}, .right = {.max_dest_rd_atomic = depth}, .send_depth = 32});
  constexpr std::size_t count = 24;
  constexpr std::size_t bytes = 1200;
  fill(r.buffer.span().subspan(remote, count * bytes), depth);
  for (std::size_t i = 0; i < count; ++i)
    rdma(r, IBV_WR_RDMA_READ, i * bytes, bytes, remote + i * bytes).id(i).post(l.left);
  for (std::size_t i = 0; i < count; ++i) CHECK(good(l.sends).wr_id == i);
  CHECK(std::equal(r.buffer.data(), r.buffer.data() + count * bytes, r.buffer.data() + remote));
}

TEST_CASE("a read does not see the data of a later fenced write", "[read]") {
  rig r;
  joined l(r);
  for (unsigned round = 0; round < 10; ++round) {
    std::fill_n(r.buffer.data() + remote, 3000, std::byte{1});
    std::fill_n(r.buffer.data() + 4096, 3000, std::byte{2});
    rdma(r, IBV_WR_RDMA_READ, 0, 3000).flags(0).post(l.left);
    rdma(r, IBV_WR_RDMA_WRITE, 4096, 3000).flags(unsigned{IBV_SEND_FENCE} | IBV_SEND_SIGNALED).post(l.left);
    good(l.sends);
    CHECK(
        std::all_of(r.buffer.data(), r.buffer.data() + 3000, [](std::byte b) { return b == std::byte{1}; }));
    CHECK(r.buffer.data()[remote + 2999] == std::byte{2});
  }
}
