// SPDX-License-Identifier: Apache-2.0
// The peer in a separate process, until it dies.
#include <atomic>
#include <cstring>
#include <memory>
#include <numeric>
#include <queue>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

#include "child.hpp"
#include "scene.hpp"

using namespace conformance;

namespace {

/// The data that the sides exchange.
struct place {
  std::uint32_t number;
  std::uint32_t rkey;
  std::uint64_t address;
};

struct far_end {
  /// Several ends can share a rig.
  explicit far_end(const connection& wanted = {}, std::shared_ptr<rig> shared = std::make_shared<rig>())
      : owner(std::move(shared)),
        r(*owner),
        queue(r.device, 64),
        pair(r.domain, {.send = &queue, .recv = &queue, .send_sges = 2, .recv_sges = 2}),
        details(wanted) {}
  /// Posts `receives` of 4 KiB before the peer may send.
  void connect(const wire& line, std::uint64_t receives = 0) {
    line.send(place{pair.number(), r.buffer.rkey(), address(r, 0)});
    to = line.receive<place>();
    connection peer = details;
    peer.remote_qp = to.number;
    peer.path_mtu = mtu_from_bytes(r.choice.mtu_bytes);
    peer.path = path_to(r.port, r.port.address);
    pair.to_init({.port = r.port.number, .access = all_access});
    for (std::uint64_t id = 0; id < receives; ++id) receive(pair, id, {r.piece(4096 * id, 4096)});
    pair.to_ready_to_receive(peer);
    pair.to_ready_to_send(peer);
    line.meet();
  }
  std::shared_ptr<rig> owner;
  rig& r;
  completion_queue queue;
  queue_pair pair;
  connection details;
  place to{};
};

/// Receives messages and answers each with the sum of its bytes, by RDMA write and by message; the answer
/// includes the sum that the peer wrote from offset 40000 on.
TEST_CASE("child: summer", "[.child]") {
  const wire line = child_wire();
  far_end self;
  self.connect(line, 8);
  std::queue<ibv_wc> asked;
  bool answering = false;
  for (;;) {
    const ibv_wc done = good(self.queue);
    if (done.opcode == IBV_WC_RECV)
      asked.push(done);
    else
      answering = false;
    // The peer may ask again before the last answer has completed here, and until then it is not rewritten.
    if (answering || asked.empty()) continue;
    const ibv_wc got = asked.front();
    asked.pop();
    answering = true;
    const std::byte* const data = self.r.buffer.data() + 4096 * got.wr_id;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < got.byte_len; ++i) sum += std::to_integer<std::uint64_t>(data[i]);
    for (std::size_t i = 40'000; i < 50'000; ++i)
      sum += std::to_integer<std::uint64_t>(self.r.buffer.data()[i]);
    std::memcpy(self.r.buffer.data() + 60'000, &sum, sizeof sum);
    work(IBV_WR_RDMA_WRITE, {self.r.piece(60'000, 8)})
        .at(self.to.address + 50'000, self.to.rkey)
        .flags(0)
        .post(self.pair);
    receive(self.pair, got.wr_id, {self.r.piece(4096 * got.wr_id, 4096)});
    work(IBV_WR_SEND, {self.r.piece(60'000, 8)}).post(self.pair);
  }
}

/// Waits until it is killed.
TEST_CASE("child: sitter", "[.child]") {
  const wire line = child_wire();
  far_end self;
  self.connect(line);
  for (;;) pause();
}

constexpr std::uint64_t added_by_each = 2'000;

/// Adds 1 to the first word of the peer's memory `added_by_each` times. Opens no more files if the peer says
/// so.
TEST_CASE("child: adder", "[.child]") {
  const wire line = child_wire();
  far_end refused;
  far_end self({}, refused.owner);
  refused.connect(line);
  self.connect(line);
  // The peer is told of the refusal: this process has found it, and can wake it from now on.
  work(IBV_WR_RDMA_WRITE, {self.r.piece(0, 8)}).at(self.to.address, ~self.to.rkey).post(refused.pair);
  CHECK(next(refused.queue).status == IBV_WC_REM_ACCESS_ERR);
  const bool opens_files = line.receive<bool>();
  if (!opens_files) {
    const int lowest_free = dup(STDIN_FILENO);
    REQUIRE(lowest_free > 0);
    close(lowest_free);
    const auto most = static_cast<rlim_t>(lowest_free);
    const rlimit no_more{most, most};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &no_more) == 0);
  }
  line.meet();
  for (std::uint64_t i = 0; i < added_by_each; ++i) {
    work(IBV_WR_ATOMIC_FETCH_AND_ADD, {self.r.piece(0, 8)})
        .at(self.to.address, self.to.rkey)
        .operands(1)
        .post(self.pair);
    good(self.queue);
  }
  line.meet();
}

std::uint64_t sum_of(const rig& r, std::size_t offset, std::size_t bytes) {
  return std::accumulate(
      r.buffer.data() + offset, r.buffer.data() + offset + bytes, std::uint64_t{0},
      [](std::uint64_t sum, std::byte b) { return sum + std::to_integer<std::uint64_t>(b); });
}

}  // namespace

TEST_CASE("messages, writes and reads between processes", "[process]") {
  if (is_simulated()) return skip(one_process);
  child peer("child: summer");
  far_end self;
  self.connect(peer.line());
  const unsigned seed = 99;
  for (unsigned round = 0; round < 12; ++round) {
    INFO("seed " << seed << ", round " << round);
    const std::uint32_t bytes = round * 371 % 4097;
    fill(self.r.buffer.span().first(40'000), seed + round);
    receive(self.pair, round, {self.r.piece(50'100, 8)});
    work(IBV_WR_RDMA_WRITE, {self.r.piece(10'000, 10'000)})
        .at(self.to.address + 40'000, self.to.rkey)
        .flags(0)
        .post(self.pair);
    work(IBV_WR_SEND, {self.r.piece(1, bytes / 2), self.r.piece(5000, bytes - bytes / 2)})
        .flags(0)
        .post(self.pair);
    CHECK(good(self.queue).wr_id == round);
    const std::uint64_t expected = sum_of(self.r, 1, bytes / 2) + sum_of(self.r, 5000, bytes - bytes / 2) +
                                   sum_of(self.r, 10'000, 10'000);
    std::uint64_t told = 0;
    std::memcpy(&told, self.r.buffer.data() + 50'000, 8);
    CHECK(told == expected);
    std::memcpy(&told, self.r.buffer.data() + 50'100, 8);
    CHECK(told == expected);
    work(IBV_WR_RDMA_READ, {self.r.piece(20'000, 10'000)})
        .at(self.to.address + 40'000, self.to.rkey)
        .post(self.pair);
    good(self.queue);
    CHECK(std::memcmp(self.r.buffer.data() + 20'000, self.r.buffer.data() + 10'000, 10'000) == 0);
  }
}

TEST_CASE("the additions of two processes add up, also if one of them cannot map the memory", "[process]") {
  if (is_simulated()) return skip(one_process);
  child at_will("child: adder"), limited("child: adder");
  const auto r = std::make_shared<rig>();
  far_end first({}, r), refused({}, r), second({}, r), refused_too({}, r);
  refused.connect(at_will.line());
  first.connect(at_will.line());
  refused_too.connect(limited.line());
  second.connect(limited.line());
  const std::atomic_ref<std::uint64_t> sum(*reinterpret_cast<std::uint64_t*>(r->buffer.data()));
  sum = 0;
  at_will.line().send(true);
  limited.line().send(false);
  for (int i = 0; i < 2; ++i) {
    at_will.line().meet();
    limited.line().meet();
  }
  CHECK(sum.load() == 2 * added_by_each);
}

TEST_CASE("a killed peer is silent: retries are exceeded, and others are not affected", "[process]") {
  if (is_simulated()) return skip(one_process);
  child dying("child: sitter"), living("child: sitter");
  far_end self({.timeout = 12, .retry = 3});
  far_end other({.timeout = 14, .retry = 7});
  self.connect(dying.line());
  other.connect(living.line());
  const auto write = [](far_end& from, std::uint64_t id) {
    return work(IBV_WR_RDMA_WRITE, {from.r.piece(0, 64)})
        .at(from.to.address, from.to.rkey)
        .id(id)
        .try_post(from.pair);
  };
  REQUIRE(write(self, 1) == 0);
  good(self.queue);
  REQUIRE(write(other, 1) == 0);
  good(other.queue);
  dying.kill();
  // Until the death is detected writes may still go into its memory.
  const auto end = chorale::clock::now() + 60s;
  ibv_wc done{};
  do {
    CHECK(chorale::clock::now() < end);
    REQUIRE(write(self, 2) == 0);
    done = next(self.queue);
  } while (done.status == IBV_WC_SUCCESS && chorale::clock::now() < end);
  CHECK(done.status == IBV_WC_RETRY_EXC_ERR);
  CHECK(done.wr_id == 2);
  CHECK(settled(self.pair, IBV_QPS_ERR) == IBV_QPS_ERR);
  REQUIRE(write(self, 3) == 0);
  CHECK(next(self.queue).status == IBV_WC_WR_FLUSH_ERR);
  for (std::uint64_t id = 4; id < 8; ++id) {
    REQUIRE(write(other, id) == 0);
    CHECK(good(other.queue).wr_id == id);
  }
}

TEST_CASE("a destroyed queue pair is silent: retries are exceeded", "[process]") {
  rig r;
  joined l(r, {.left = {.timeout = 8, .retry = 1}});
  l.right.close();
  const auto opcode = GENERATE(IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ);
  INFO("opcode " << opcode);
  if (opcode == IBV_WR_SEND)
    work(opcode, {r.piece(0, 8)}).id(1).flags(0).post(l.left);
  else
    rdma(r, opcode, 0, 8).id(1).flags(0).post(l.left);
  rdma(r, IBV_WR_RDMA_WRITE, 0, 8).id(2).flags(0).post(l.left);
  const ibv_wc failed = next(l.sends);
  CHECK(failed.status == IBV_WC_RETRY_EXC_ERR);
  CHECK(failed.wr_id == 1);
  const ibv_wc flushed = next(l.sends);
  CHECK(flushed.status == IBV_WC_WR_FLUSH_ERR);
  CHECK(flushed.wr_id == 2);
  CHECK(settled(l.left, IBV_QPS_ERR) == IBV_QPS_ERR);
}

TEST_CASE("a peer in ERR is silent too", "[process]") {
  rig r;
  joined l(r, {.left = {.timeout = 8, .retry = 1}});
  l.right.to_error();
  rdma(r, IBV_WR_RDMA_WRITE, 0, 8).post(l.left);
  CHECK(next(l.sends).status == IBV_WC_RETRY_EXC_ERR);
}

TEST_CASE("a peer that is ready in time is reached by retries", "[process]") {
  rig r;
  completion_queue sends(r.device, 16), arrivals(r.device, 16);
  queue_pair left(r.domain, {.send = &sends, .recv = &sends});
  queue_pair right(r.domain, {.send = &arrivals, .recv = &arrivals});
  // Six retries of at least 4.096 us * 2^19, 13 s in all: the peer is ready long before.
  r.connect(left, right, all_access, {.timeout = 19, .retry = 6});
  rdma(r, IBV_WR_RDMA_WRITE, 0, 8).post(left);
  CHECK(test::stays_empty(sends, quiet));
  r.connect(right, left);
  good(sends);
}
