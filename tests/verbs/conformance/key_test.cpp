// SPDX-License-Identifier: Apache-2.0
// Keys and bounds of memory regions, of the peer and of the requester.
#include "scene.hpp"

using namespace conformance;

namespace {

constexpr std::uint64_t near_the_end = ~std::uint64_t{0} - 3;

struct target {
  std::uint64_t address;
  std::uint32_t key;
};

/// Status of a request of `bytes` on a fresh connection.
ibv_wc_status status_of(rig& r, ibv_wr_opcode opcode, const target& to, std::uint32_t bytes) {
  joined l(r);
  work(opcode, {r.piece(0, bytes)}).at(to.address, to.key).post(l.left);
  const ibv_wc_status status = next(l.sends).status;
  if (status != IBV_WC_SUCCESS) CHECK(settled(l.left, IBV_QPS_ERR) == IBV_QPS_ERR);
  return status;
}

}  // namespace

TEST_CASE("a remote key gives access to its region and no byte more", "[key]") {
  rig r;
  // The middle of larger memory, so that there are bytes on both sides.
  const registered_buffer whole(r.domain, 3 * 4096, all_access);
  std::byte* const first = whole.data() + 100;
  constexpr std::uint32_t length = 5001;
  const memory_region inner(r.domain, first, length, all_access);
  const auto at = reinterpret_cast<std::uint64_t>(first);
  const auto opcode = GENERATE(IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_RDMA_WRITE_WITH_IMM);
  INFO("opcode " << opcode);
  joined l(r);
  // Inside, on both edges.
  for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{length - 8}}) {
    receive(l.right, 1);
    work(opcode, {r.piece(0, 8)}).at(at + offset, inner.rkey()).post(l.left);
    good(l.sends);
  }
  work(opcode == IBV_WR_RDMA_READ ? opcode : IBV_WR_RDMA_WRITE, {r.piece(0, length)})
      .at(at, inner.rkey())
      .post(l.left);
  good(l.sends);

  const auto refused = [&](const char* what, const target& to, std::uint32_t bytes) {
    INFO(what);
    const auto plain = opcode == IBV_WR_RDMA_WRITE_WITH_IMM ? IBV_WR_RDMA_WRITE : opcode;
    CHECK(status_of(r, plain, to, bytes) == IBV_WC_REM_ACCESS_ERR);
  };
  refused("one byte before", {at - 1, inner.rkey()}, 8);
  refused("one byte over the end", {at + length - 8, inner.rkey()}, 9);
  refused("the whole and one byte", {at, inner.rkey()}, length + 1);
  refused("behind the end", {at + length, inner.rkey()}, 1);
  refused("far away", {at + (1ULL << 40), inner.rkey()}, 8);
  refused("an address that wraps", {near_the_end, inner.rkey()}, 9);
  refused("an address that wraps into the region", {at - length, inner.rkey()}, length + 1);
  refused("the address zero", {0, inner.rkey()}, 1);
  refused("key zero", {at, 0}, 8);
  refused("all bits set", {at, 0xffffffffU}, 8);
  refused("the next key", {at, inner.rkey() + 1}, 8);
  refused("a key of another index", {at, inner.rkey() + 0x10000}, 8);
}

TEST_CASE("the local key is not the remote key", "[key]") {
  rig r;
  if (r.buffer.lkey() == r.buffer.rkey()) return skip("lkey and rkey of a region are the same number");
  CHECK(status_of(r, IBV_WR_RDMA_WRITE, {address(r, remote), r.buffer.lkey()}, 8) == IBV_WC_REM_ACCESS_ERR);
  joined l(r);
  ibv_sge piece = r.piece(0, 8);
  piece.lkey = r.buffer.rkey();
  work(IBV_WR_SEND, {piece}).post(l.left);
  CHECK(next(l.sends).status == IBV_WC_LOC_PROT_ERR);
}

TEST_CASE("a deregistered region gives no access, not even when its memory is registered again", "[key]") {
  rig r;
  registered_buffer memory(r.domain, 4096, all_access);
  const auto at = reinterpret_cast<std::uint64_t>(memory.data());
  joined l(r);
  std::uint32_t stale = 0;
  for (int round = 0; round < 3; ++round) {
    memory_region region(r.domain, memory.data(), 4096, all_access);
    CHECK(region.rkey() != stale);
    stale = region.rkey();
    work(IBV_WR_RDMA_WRITE, {r.piece(0, 8)}).at(at, region.rkey()).post(l.left);
    good(l.sends);  // so that the key is in the device's cache
  }
  const memory_region successor(r.domain, memory.data(), 4096, all_access);
  work(IBV_WR_RDMA_WRITE, {r.piece(0, 8)}).at(at, stale).post(l.left);
  CHECK(next(l.sends).status == IBV_WC_REM_ACCESS_ERR);
  CHECK(status_of(r, IBV_WR_RDMA_READ, {at, stale}, 8) == IBV_WC_REM_ACCESS_ERR);
}

TEST_CASE("a stale local key is a local error", "[key]") {
  rig r;
  std::vector<std::byte> memory(4096);
  ibv_sge piece{reinterpret_cast<std::uint64_t>(memory.data()), 8, 0};
  {
    const memory_region gone(r.domain, memory.data(), memory.size(), all_access);
    piece.lkey = gone.lkey();
  }
  joined l(r);
  work(IBV_WR_SEND, {piece}).post(l.left);
  conforms("a local key of the past: status", next(l.sends).status, IBV_WC_LOC_PROT_ERR,
           {{"rxe", IBV_WC_LOC_QP_OP_ERR,
             "rxe_req.c: a gather list that cannot be copied is "
             "IB_WC_LOC_QP_OP_ERR"}});
}

TEST_CASE("keys work in their protection domain only", "[key]") {
  rig r;
  protection_domain other(r.device);
  const registered_buffer theirs(other, 4096, all_access);
  CHECK(status_of(r, IBV_WR_RDMA_WRITE, {reinterpret_cast<std::uint64_t>(theirs.data()), theirs.rkey()}, 8) ==
        IBV_WC_REM_ACCESS_ERR);
  joined l(r);
  work(IBV_WR_SEND, {{reinterpret_cast<std::uint64_t>(theirs.data()), 8, theirs.lkey()}}).post(l.left);
  conforms("a local key of another protection domain: status", next(l.sends).status, IBV_WC_LOC_PROT_ERR,
           {{"rxe", IBV_WC_LOC_QP_OP_ERR,
             "rxe_req.c: a gather list that cannot be copied is "
             "IB_WC_LOC_QP_OP_ERR"}});
}

TEST_CASE("rights are also limited by the region", "[key]") {
  rig r;
  struct right {
    const char* name;
    int access;
    ibv_wr_opcode opcode;
    ibv_wc_status status;
  };
  const auto f =
      GENERATE(right{"write where reading is allowed", IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ,
                     IBV_WR_RDMA_WRITE, IBV_WC_REM_ACCESS_ERR},
               right{"read where writing is allowed", IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
                     IBV_WR_RDMA_READ, IBV_WC_REM_ACCESS_ERR},
               right{"atomic where writing is allowed",
                     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
                     IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WC_REM_ACCESS_ERR},
               right{"write where nothing is allowed", IBV_ACCESS_LOCAL_WRITE, IBV_WR_RDMA_WRITE,
                     IBV_WC_REM_ACCESS_ERR},
               right{"read where it is allowed", IBV_ACCESS_REMOTE_READ, IBV_WR_RDMA_READ, IBV_WC_SUCCESS},
               right{"write where it is allowed", IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
                     IBV_WR_RDMA_WRITE, IBV_WC_SUCCESS});
  INFO(f.name);
  const registered_buffer memory(r.domain, 4096, f.access);
  CHECK(status_of(r, f.opcode, {reinterpret_cast<std::uint64_t>(memory.data()), memory.rkey()}, 8) ==
        f.status);
}

TEST_CASE("read-only local memory receives nothing", "[key]") {
  rig r;
  const registered_buffer readable(r.domain, 4096, IBV_ACCESS_REMOTE_READ);
  const ibv_sge piece{reinterpret_cast<std::uint64_t>(readable.data()), 8, readable.lkey()};
  SECTION("of a read") {
    joined l(r);
    work(IBV_WR_RDMA_READ, {piece}).at(address(r, remote), r.buffer.rkey()).post(l.left);
    CHECK(next(l.sends).status == IBV_WC_LOC_PROT_ERR);
  }
  SECTION("of a message") {
    joined l(r);
    receive(l.right, 2, {piece});
    work(IBV_WR_SEND, {r.piece(0, 8)}).post(l.left);
    conforms("a receive into memory that is only readable: status", next(l.arrivals).status,
             IBV_WC_LOC_PROT_ERR,
             {{"rxe", IBV_WC_LOC_QP_OP_ERR, "rxe_resp.c: RESPST_ERR_MALFORMED_WQE is IB_WC_LOC_QP_OP_ERR"}});
    CHECK(next(l.sends).status == IBV_WC_REM_OP_ERR);
  }
  SECTION("but can be sent from") {
    joined l(r);
    receive(l.right, 2, {r.piece(remote, 8)});
    work(IBV_WR_SEND, {piece}).post(l.left);
    good(l.arrivals);
    good(l.sends);
  }
  CHECK(readable.data()[0] == std::byte{0});
}

TEST_CASE("requests of zero bytes need no key", "[key]") {
  rig r;
  joined l(r, {.left = {.max_rd_atomic = 1}, .right = {.max_dest_rd_atomic = 1}});
  for (const auto opcode : {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ}) {
    INFO("opcode " << opcode);
    work(opcode).at(0, 0).post(l.left);
    good(l.sends);
    work(opcode).at(near_the_end, 0xffffffffU).post(l.left);
    good(l.sends);
    work(opcode, {r.piece(0, 0)}).at(0, 0).post(l.left);
    good(l.sends);
  }
  receive(l.right, 8);
  work(IBV_WR_RDMA_WRITE_WITH_IMM).at(0, 0).post(l.left);
  CHECK(good(l.arrivals).wr_id == 8);
  good(l.sends);
}
