// SPDX-License-Identifier: Apache-2.0
// Atomic operations: old values, faults, and many initiators at once.
#include <atomic>
#include <cstring>
#include <memory>

#include "beside.hpp"
#include "scene.hpp"

using namespace conformance;

namespace {

std::uint64_t word(const rig& r, std::size_t offset) {
  std::uint64_t value = 0;
  std::memcpy(&value, r.buffer.data() + offset, sizeof value);
  return value;
}
void set(rig& r, std::size_t offset, std::uint64_t value) {
  std::memcpy(r.buffer.data() + offset, &value, sizeof value);
}

bool lacks_atomics(const rig& r) {
  if (r.device.attributes().atomic_cap != IBV_ATOMIC_NONE) return false;
  skip("it has no atomics");
  return true;
}

}  // namespace

TEST_CASE("fetch and add, compare and swap return the old value", "[atomic]") {
  rig r;
  if (lacks_atomics(r)) return;
  joined l(r);
  set(r, remote - 8, 1);
  set(r, remote + 8, 2);
  const auto run = [&](ibv_wr_opcode opcode, std::uint64_t first, std::uint64_t second, std::uint64_t before,
                       std::uint64_t after) {
    set(r, 0, 0xdead);
    set(r, 8, 0xbeef);
    set(r, remote, before);
    rdma(r, opcode, 0, 8).operands(first, second).post(l.left);
    const ibv_wc done = good(l.sends);
    CHECK(done.opcode == (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? IBV_WC_FETCH_ADD : IBV_WC_COMP_SWAP));
    conforms("an atomic operation reports 8 bytes", done.byte_len, 8U);
    CHECK(word(r, 0) == before);
    CHECK(word(r, 8) == 0xbeef);
    CHECK(word(r, remote) == after);
    CHECK(word(r, remote - 8) == 1);  // its neighbours are unchanged
    CHECK(word(r, remote + 8) == 2);
  };
  constexpr std::uint64_t all = ~std::uint64_t{0};
  run(IBV_WR_ATOMIC_FETCH_AND_ADD, 2, 0, 40, 42);
  run(IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 0, all, all);
  run(IBV_WR_ATOMIC_FETCH_AND_ADD, 3, 0, all, 2);  // wraps
  run(IBV_WR_ATOMIC_FETCH_AND_ADD, all, 0, 0, all);
  run(IBV_WR_ATOMIC_CMP_AND_SWP, 42, 99, 42, 99);
  run(IBV_WR_ATOMIC_CMP_AND_SWP, 42, 99, 43, 43);
  run(IBV_WR_ATOMIC_CMP_AND_SWP, 42, 99, 42ULL << 32 | 42, 42ULL << 32 | 42);
  run(IBV_WR_ATOMIC_CMP_AND_SWP, 0, all, 0, all);
}

TEST_CASE("the old value is scattered like any data", "[atomic]") {
  rig r;
  if (lacks_atomics(r)) return;
  joined l(r);
  set(r, remote, 0x0807060504030201);
  work(IBV_WR_ATOMIC_FETCH_AND_ADD, {r.piece(100, 3), r.piece(200, 5)})
      .at(address(r, remote), r.buffer.rkey())
      .operands(1)
      .post(l.left);
  good(l.sends);
  CHECK(r.buffer.data()[100] == std::byte{1});
  CHECK(r.buffer.data()[102] == std::byte{3});
  CHECK(r.buffer.data()[200] == std::byte{4});
  CHECK(r.buffer.data()[204] == std::byte{8});
}

TEST_CASE("faults of atomic operations", "[atomic]") {
  rig r;
  if (lacks_atomics(r)) return;
  const auto opcode = GENERATE(IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_ATOMIC_CMP_AND_SWP);
  joined l(r);
  set(r, remote, 5);
  SECTION("an address that is no multiple of 8") {
    const auto offset = GENERATE(1, 4, 7);
    const int result = rdma(r, opcode, 0, 8, remote + static_cast<std::size_t>(offset)).try_post(l.left);
    if (conforms("an atomic operation at any address can be posted", result, 0,
                 {{"rxe", EINVAL, "the user-space driver refuses it (rxe.c: validate_send_wr)"}})) {
      CHECK(next(l.sends).status == IBV_WC_REM_INV_REQ_ERR);
      CHECK(settled(l.right, IBV_QPS_ERR) == IBV_QPS_ERR);
    }
  }
  SECTION("a key that is wrong") {
    work(opcode, {r.piece(0, 8)}).at(address(r, remote), r.buffer.rkey() + 0x100).post(l.left);
    CHECK(next(l.sends).status == IBV_WC_REM_ACCESS_ERR);
  }
  SECTION("an address out of the region") {
    rdma(r, opcode, 0, 8, r.buffer.bytes()).post(l.left);
    CHECK(next(l.sends).status == IBV_WC_REM_ACCESS_ERR);
  }
  SECTION("a queue pair that allows none") {
    ibv_qp_attr a{};
    a.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
    REQUIRE(l.right.provider().modify_qp(l.right.native(), &a, IBV_QP_ACCESS_FLAGS) == 0);
    rdma(r, opcode, 0, 8).post(l.left);
    CHECK(next(l.sends).status == IBV_WC_REM_INV_REQ_ERR);
  }
  SECTION("no room for the old value") {
    const int result = rdma(r, opcode, 0, 7).try_post(l.left);
    if (conforms("an atomic operation with less than 8 bytes of room can be posted", result, 0,
                 {{"rxe", EINVAL, "the user-space driver refuses it (rxe.c: validate_send_wr)"}}))
      CHECK(next(l.sends).status == IBV_WC_LOC_LEN_ERR);
  }
  SECTION("inline") {
    conforms("an atomic operation cannot be inline",
             rdma(r, opcode, 0, 8).flags(unsigned{IBV_SEND_INLINE} | IBV_SEND_SIGNALED).try_post(l.left),
             EINVAL, {{"rxe", 0, "the user-space driver lets it pass (rxe.c: validate_send_wr)"}});
  }
  CHECK(word(r, remote) == 5);
}

TEST_CASE("many initiators at once lose no addition and no swap", "[atomic]") {
  rig r;
  if (lacks_atomics(r)) return;
  constexpr std::size_t count = 4;
  const std::uint64_t each = device_family() == "soft" ? 500 : 40;
  std::vector<std::unique_ptr<joined>> links;
  for (std::size_t i = 0; i < count; ++i)
    links.push_back(std::make_unique<joined>(
        r, joined_options{.left = {.max_rd_atomic = 1}, .right = {.max_dest_rd_atomic = 1}}));
  set(r, remote, 0);
  set(r, remote + 64, 0);
  std::atomic<std::uint64_t> failures{0};
  std::vector<std::unique_ptr<beside>> initiators;
  for (std::size_t i = 0; i < count; ++i)
    initiators.push_back(std::make_unique<beside>([&, i] {
      const std::size_t place = 64 * i;
      const auto run = [&](work request) {
        ibv_wc done{};
        if (request.try_post(links[i]->left) != 0) return false;
        const auto end = chorale::clock::now() + 60s;
        while (links[i]->sends.poll({&done, 1}).empty())
          if (chorale::clock::now() > end) return false;
        return done.status == IBV_WC_SUCCESS;
      };
      for (std::uint64_t k = 0; k < each; ++k) {
        bool fine = run(rdma(r, IBV_WR_ATOMIC_FETCH_AND_ADD, place, 8).operands(i + 1));
        // The same by compare and swap, until no other initiator interferes.
        for (std::uint64_t seen = 0;;) {
          fine = fine &&
                 run(rdma(r, IBV_WR_ATOMIC_CMP_AND_SWP, place, 8, remote + 64).operands(seen, seen + i + 1));
          if (!fine || word(r, place) == seen) break;
          seen = word(r, place);
        }
        if (!fine) ++failures;
        if (!fine) return;
      }
    }));
  for (auto& one : initiators) one->join();
  CHECK(failures == 0);
  CHECK(word(r, remote) == each * (1 + 2 + 3 + 4));
  CHECK(word(r, remote + 64) == each * (1 + 2 + 3 + 4));
}
