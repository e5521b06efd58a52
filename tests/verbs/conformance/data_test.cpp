// SPDX-License-Identifier: Apache-2.0
// Data: every size and offset, gathered and scattered, compared with the expected bytes.
#include <algorithm>
#include <arpa/inet.h>
#include <cstring>
#include <random>

#include "scene.hpp"

using namespace conformance;

namespace {

/// Memory large enough for messages of a megabyte and more, registered.
struct region {
  region(rig& r, std::size_t bytes, unsigned seed) : memory(r.domain, bytes, all_access) {
    fill(memory.span(), seed);
    expected.assign(memory.data(), memory.data() + bytes);
  }
  [[nodiscard]] ibv_sge piece(std::size_t offset, std::size_t bytes) const {
    return {reinterpret_cast<std::uint64_t>(memory.data() + offset), static_cast<std::uint32_t>(bytes),
            memory.lkey()};
  }
  [[nodiscard]] std::uint64_t at(std::size_t offset) const {
    return reinterpret_cast<std::uint64_t>(memory.data() + offset);
  }
  void expect(std::size_t offset, const std::vector<std::byte>& bytes) {
    std::copy(bytes.begin(), bytes.end(), expected.begin() + static_cast<std::ptrdiff_t>(offset));
  }
  [[nodiscard]] std::vector<std::byte> part(std::size_t offset, std::size_t bytes) const {
    return {expected.begin() + static_cast<std::ptrdiff_t>(offset),
            expected.begin() + static_cast<std::ptrdiff_t>(offset + bytes)};
  }
  /// Takes the current bytes as the expected ones.
  void accept(std::size_t offset, std::size_t bytes) {
    std::copy_n(memory.data() + offset, bytes, expected.begin() + static_cast<std::ptrdiff_t>(offset));
  }
  /// The first offset at which memory and expectation differ; the size if there is none.
  [[nodiscard]] std::size_t differs() const {
    if (std::memcmp(expected.data(), memory.data(), expected.size()) == 0) return expected.size();
    return static_cast<std::size_t>(std::mismatch(expected.begin(), expected.end(), memory.data()).first -
                                    expected.begin());
  }

  registered_buffer memory;
  std::vector<std::byte> expected;
};

constexpr std::size_t room = 2'500'000;

std::vector<std::size_t> sizes(const rig& r) {
  const auto mtu = static_cast<std::size_t>(r.choice.mtu_bytes);
  return {0, 1, 2, 3, 7, 63, 64, 65, mtu - 1, mtu, mtu + 1, 2 * mtu, 20001, 1'234'567};
}

}  // namespace

TEST_CASE("RDMA write and read move exactly the bytes asked for", "[data]") {
  rig r;
  const auto type = GENERATE(IBV_QPT_RC, IBV_QPT_UC);
  joined l(r, {.type = type, .left = {.max_rd_atomic = 4}, .right = {.max_dest_rd_atomic = 4}});
  region mine(r, room, 11);
  region theirs(r, room, 12);
  unsigned skew = 0;
  for (const std::size_t size : sizes(r)) {
    skew = (skew + 3) % 8;  // all alignments against each other
    const std::size_t from = 100 + skew;
    const std::size_t to = 4096 + 5 * skew;
    INFO(to_string(type) << ", " << size << " bytes from " << from << " to " << to);
    work(IBV_WR_RDMA_WRITE, {mine.piece(from, size)}).at(theirs.at(to), theirs.memory.rkey()).post(l.left);
    CHECK(good(l.sends).opcode == IBV_WC_RDMA_WRITE);
    if (type == IBV_QPT_UC) {
      // Nothing reports the arrival of an unreliable write; a message after it does.
      receive(l.right, 5);
      work(IBV_WR_SEND).post(l.left);
      good(l.sends);
      CHECK(good(l.arrivals).wr_id == 5);
    }
    theirs.expect(to, mine.part(from, size));
    CHECK(theirs.differs() == room);
    CHECK(mine.differs() == room);
    if (type == IBV_QPT_UC) continue;
    work(IBV_WR_RDMA_READ, {mine.piece(from + 1, size)}).at(theirs.at(to), theirs.memory.rkey()).post(l.left);
    const ibv_wc done = good(l.sends);
    CHECK(done.opcode == IBV_WC_RDMA_READ);
    CHECK(done.byte_len == size);
    mine.expect(from + 1, theirs.part(to, size));
    CHECK(mine.differs() == room);
    CHECK(theirs.differs() == room);
  }
  CHECK(test::stays_empty(l.arrivals, 1ms));  // the target gets no completion
}

TEST_CASE("messages arrive whole, with length and immediate", "[data]") {
  rig r;
  const auto type = GENERATE(IBV_QPT_RC, IBV_QPT_UC);
  joined l(r, {.type = type});
  region mine(r, room, 21);
  region theirs(r, room, 22);
  std::uint32_t count = 0;
  for (const std::size_t size : sizes(r)) {
    INFO(to_string(type) << ", " << size << " bytes");
    ++count;
    receive(l.right, count, {theirs.piece(3 * count, size + 9)});
    const bool immediate = count % 2 == 0;
    work(immediate ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND, {mine.piece(count, size)})
        .immediate(0xcafe0000U + count)
        .post(l.left);
    const ibv_wc got = good(l.arrivals);
    CHECK(got.opcode == IBV_WC_RECV);
    CHECK(got.wr_id == count);
    CHECK(got.byte_len == size);
    CHECK(got.qp_num == l.right.number());
    CHECK(((got.wc_flags & IBV_WC_WITH_IMM) != 0) == immediate);
    if (immediate) CHECK(ntohl(got.imm_data) == 0xcafe0000U + count);
    CHECK(good(l.sends).opcode == IBV_WC_SEND);
    theirs.expect(3 * count, mine.part(count, size));
    theirs.accept(3 * count + size, 9);  // the rest of the receive is undefined
    CHECK(theirs.differs() == room);
  }
}

TEST_CASE("write with immediate takes a receive, whatever its length, and names its own", "[data]") {
  rig r;
  const auto type = GENERATE(IBV_QPT_RC, IBV_QPT_UC);
  joined l(r, {.type = type});
  region mine(r, room, 31);
  region theirs(r, room, 32);
  std::uint32_t count = 0;
  for (const std::size_t size : sizes(r)) {
    INFO(to_string(type) << ", " << size << " bytes");
    ++count;
    receive(l.right, count, {theirs.piece(2'000'000, 4)});  // too short for the data, which does not matter
    work(IBV_WR_RDMA_WRITE_WITH_IMM, {mine.piece(count, size)})
        .at(theirs.at(count), theirs.memory.rkey())
        .immediate(count)
        .post(l.left);
    const ibv_wc got = good(l.arrivals);
    CHECK(got.opcode == IBV_WC_RECV_RDMA_WITH_IMM);
    CHECK(got.wr_id == count);
    CHECK(got.byte_len == size);
    CHECK((got.wc_flags & IBV_WC_WITH_IMM) != 0);
    CHECK(ntohl(got.imm_data) == count);
    CHECK(good(l.sends).opcode == IBV_WC_RDMA_WRITE);
    theirs.expect(count, mine.part(count, size));
    theirs.accept(2'000'000, 4);
    CHECK(theirs.differs() == room);
  }
}

TEST_CASE("lists of pieces of any sizes gather and scatter", "[data]") {
  rig r;
  const auto most = static_cast<std::uint32_t>(std::min(r.device.attributes().max_sge, 8));
  joined l(r, {.left = {.max_rd_atomic = 1}, .right = {.max_dest_rd_atomic = 1}, .sges = most});
  region mine(r, 400'000, 41);
  region theirs(r, 400'000, 42);
  const unsigned seed = Catch::rngSeed() == 0 ? 4711 : Catch::rngSeed();
  std::mt19937 random{seed};
  INFO("seed " << seed);
  for (int round = 0; round < 30; ++round) {
    INFO("round " << round);
    // Disjoint pieces in ascending order with gaps; some of zero bytes.
    const auto pieces_of = [&](const region& where, std::size_t total, std::vector<std::size_t>& places) {
      std::vector<ibv_sge> pieces;
      std::size_t left = total;
      std::size_t place = random() % 50;
      for (std::uint32_t i = 0; i < most; ++i) {
        const std::size_t bytes =
            i + 1 == most ? left : std::min<std::size_t>(left, random() % 4 == 0 ? 0 : random() % 9000);
        for (std::size_t k = 0; k < bytes; ++k) places.push_back(place + k);
        pieces.push_back(where.piece(place, bytes));
        place += bytes + random() % 20;
        left -= bytes;
      }
      return pieces;
    };
    const std::size_t total = random() % 60'000;
    std::vector<std::size_t> from, to;
    const auto gather = pieces_of(mine, total, from);
    const auto scatter = pieces_of(theirs, total, to);
    if (round % 3 == 0) {
      receive(l.right, 1, scatter);
      work(IBV_WR_SEND, gather).post(l.left);
      CHECK(good(l.arrivals).byte_len == total);
    } else if (round % 3 == 1) {
      to.clear();
      for (std::size_t k = 0; k < total; ++k) to.push_back(77 + k);
      work(IBV_WR_RDMA_WRITE, gather).at(theirs.at(77), theirs.memory.rkey()).post(l.left);
    } else {
      to.clear();
      for (std::size_t k = 0; k < total; ++k) to.push_back(99 + k);
      work(IBV_WR_RDMA_READ, gather).at(theirs.at(99), theirs.memory.rkey()).post(l.left);
    }
    good(l.sends);
    for (std::size_t k = 0; k < total; ++k)
      if (round % 3 == 2)
        mine.expected[from[k]] = theirs.expected[to[k]];
      else
        theirs.expected[to[k]] = mine.expected[from[k]];
    CHECK(mine.differs() == mine.expected.size());
    CHECK(theirs.differs() == theirs.expected.size());
  }
}

TEST_CASE("a queue pair may be connected to itself", "[data]") {
  rig r;
  completion_queue queue(r.device, 16);
  queue_pair self(r.domain, {.send = &queue, .recv = &queue});
  const connection peer = joined::details(r, self, {});
  self.to_init({.port = r.port.number, .access = all_access});
  self.to_ready_to_receive(peer);
  self.to_ready_to_send(peer);
  std::strcpy(reinterpret_cast<char*>(r.buffer.data()), "to myself");
  receive(self, 7, {r.piece(remote, 64)});
  work(IBV_WR_SEND, {r.piece(0, 10)}).post(self);
  bool sent = false;
  for (int i = 0; i < 2; ++i) {
    const ibv_wc done = good(queue);
    if (done.wr_id == 7)
      CHECK(done.byte_len == 10);
    else
      sent = true;
  }
  CHECK(sent);
  CHECK(std::strcmp(reinterpret_cast<const char*>(r.buffer.data() + remote), "to myself") == 0);
}
