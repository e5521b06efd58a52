// RC between two queue pairs of this process: data, immediate, atomics, and the failures that a peer causes.
#include <algorithm>
#include <arpa/inet.h>
#include <cstring>
#include <random>

#include <catch2/catch.hpp>

#include <chorale/verbs/work_completion.hpp>

#include "support.hpp"

using Catch::Contains;
using namespace chorale::verbs;
using test::next_completion;

namespace {

constexpr std::size_t target = 32 * 1024;  // the half of the buffer that is written to

std::uint64_t address_of(const test::rig& r, std::size_t offset) {
  return reinterpret_cast<std::uint64_t>(r.buffer.data() + offset);
}

void fill(test::rig& r, unsigned seed) {
  INFO("seed " << seed);
  std::mt19937 random{seed};
  std::generate(r.buffer.data(), r.buffer.data() + r.buffer.bytes(),
                [&] { return static_cast<std::byte>(random() & 0xff); });
}

void require_success(const ibv_wc& done) {
  INFO(describe(done));
  REQUIRE(done.status == IBV_WC_SUCCESS);
}

}  // namespace

TEST_CASE("RDMA write and read move exactly the bytes asked for", "[device]") {
  test::connected c;
  const auto opcode = GENERATE(IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ);
  const std::size_t size = GENERATE(std::size_t{0}, 1, 3, 64, 4095, 4096, 20001);
  const std::size_t skew = GENERATE(std::size_t{0}, 1, 7);
  fill(c, static_cast<unsigned>(size + skew));
  std::vector<std::byte> expected(c.buffer.data(), c.buffer.data() + c.buffer.bytes());
  const bool writes = opcode == IBV_WR_RDMA_WRITE;
  const std::size_t local = 100 + skew;
  const std::size_t remote = target + 50 + 2 * skew;
  if (writes)
    std::copy_n(expected.begin() + static_cast<std::ptrdiff_t>(local), size,
                expected.begin() + static_cast<std::ptrdiff_t>(remote));
  else
    std::copy_n(expected.begin() + static_cast<std::ptrdiff_t>(remote), size,
                expected.begin() + static_cast<std::ptrdiff_t>(local));

  ibv_sge piece = c.piece(local, static_cast<std::uint32_t>(size));
  ibv_send_wr wanted = test::request(opcode, piece);
  wanted.wr.rdma.remote_addr = address_of(c, remote);
  wanted.wr.rdma.rkey = c.buffer.rkey();
  c.left.post_send(wanted);
  const ibv_wc done = next_completion(c.left_queue);
  require_success(done);
  CHECK(done.wr_id == 0xabc);
  CHECK(done.qp_num == c.left.number());
  CHECK(done.opcode == (writes ? IBV_WC_RDMA_WRITE : IBV_WC_RDMA_READ));
  CHECK(std::equal(expected.begin(), expected.end(), c.buffer.data()));
  CHECK(test::stays_empty(c.right_queue, std::chrono::milliseconds{1}));  // the target learns nothing
}

TEST_CASE("send gathers, receive scatters, immediate arrives", "[device]") {
  test::connected c;
  fill(c, 1);
  ibv_sge into[2] = {c.piece(target, 10), c.piece(target + 1000, 100)};
  ibv_recv_wr receive{.wr_id = 5, .next = nullptr, .sg_list = into, .num_sge = 2};
  c.right.post_recv(receive);
  ibv_sge from[2] = {c.piece(0, 20), c.piece(500, 30)};
  ibv_send_wr send = test::request(IBV_WR_SEND_WITH_IMM, from[0]);
  send.num_sge = 2;
  send.imm_data = htonl(0x12345678);
  c.left.post_send(send);

  const ibv_wc got = next_completion(c.right_queue);
  require_success(got);
  CHECK(got.wr_id == 5);
  CHECK(got.opcode == IBV_WC_RECV);
  CHECK(got.byte_len == 50);
  CHECK((got.wc_flags & IBV_WC_WITH_IMM) != 0);
  CHECK(ntohl(got.imm_data) == 0x12345678);
  CHECK(got.qp_num == c.right.number());
  require_success(next_completion(c.left_queue));
  const std::byte* const data = c.buffer.data();
  std::vector<std::byte> sent(data, data + 20);
  sent.insert(sent.end(), data + 500, data + 530);
  CHECK(std::equal(data + target, data + target + 10, sent.begin()));
  CHECK(std::equal(data + target + 1000, data + target + 1040, sent.begin() + 10));
}

TEST_CASE("write with immediate takes a receive and names its length", "[device]") {
  test::connected c;
  fill(c, 2);
  ibv_recv_wr receive{.wr_id = 9};
  c.right.post_recv(receive);
  ibv_sge piece = c.piece(0, 333);
  ibv_send_wr wanted = test::request(IBV_WR_RDMA_WRITE_WITH_IMM, piece);
  wanted.wr.rdma.remote_addr = address_of(c, target);
  wanted.wr.rdma.rkey = c.buffer.rkey();
  wanted.imm_data = htonl(77);
  c.left.post_send(wanted);
  const ibv_wc got = next_completion(c.right_queue);
  require_success(got);
  CHECK(got.opcode == IBV_WC_RECV_RDMA_WITH_IMM);
  CHECK(got.byte_len == 333);
  CHECK(ntohl(got.imm_data) == 77);
  CHECK(std::memcmp(c.buffer.data(), c.buffer.data() + target, 333) == 0);
}

TEST_CASE("inline data may be overwritten at once", "[device]") {
  test::connected c;
  REQUIRE(c.left.inline_bytes() >= 64);
  char words[64] = "the quick brown fox";
  ibv_sge piece{.addr = reinterpret_cast<std::uint64_t>(words), .length = sizeof words, .lkey = 0};
  ibv_send_wr wanted = test::request(IBV_WR_RDMA_WRITE, piece);
  wanted.send_flags |= IBV_SEND_INLINE;
  wanted.wr.rdma.remote_addr = address_of(c, target);
  wanted.wr.rdma.rkey = c.buffer.rkey();
  c.left.post_send(wanted);
  std::memset(words, 'x', sizeof words);
  require_success(next_completion(c.left_queue));
  CHECK(std::string{reinterpret_cast<const char*>(c.buffer.data() + target)} == "the quick brown fox");

  std::vector<char> large(c.left.inline_bytes() + 1);
  piece = {.addr = reinterpret_cast<std::uint64_t>(large.data()),
           .length = static_cast<std::uint32_t>(large.size()),
           .lkey = 0};
  CHECK_THAT(test::error_of([&] { c.left.post_send(wanted); }).what(), Contains("inline bytes"));
}

TEST_CASE("atomics return the old value", "[device]") {
  test::connected c;
  if (c.device.attributes().atomic_cap == IBV_ATOMIC_NONE) return test::skip("it has no atomics");
  std::uint64_t value = 40;
  std::memcpy(c.buffer.data() + target, &value, sizeof value);
  ibv_sge piece = c.piece(0, 8);
  ibv_send_wr wanted = test::request(IBV_WR_ATOMIC_FETCH_AND_ADD, piece);
  wanted.wr.atomic.remote_addr = address_of(c, target);
  wanted.wr.atomic.rkey = c.buffer.rkey();
  wanted.wr.atomic.compare_add = 2;
  c.left.post_send(wanted);
  require_success(next_completion(c.left_queue));
  std::memcpy(&value, c.buffer.data(), sizeof value);
  CHECK(value == 40);
  wanted.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
  wanted.wr.atomic.compare_add = 42;
  wanted.wr.atomic.swap = 99;
  c.left.post_send(wanted);
  require_success(next_completion(c.left_queue));
  std::memcpy(&value, c.buffer.data(), sizeof value);
  CHECK(value == 42);
  std::memcpy(&value, c.buffer.data() + target, sizeof value);
  CHECK(value == 99);
}

TEST_CASE("a send queue is as deep as granted, and its slots come back with completions", "[device]") {
  test::connected c;
  ibv_sge piece = c.piece(0, 8);
  ibv_send_wr wanted = test::request(IBV_WR_RDMA_WRITE, piece);
  wanted.wr.rdma.remote_addr = address_of(c, target);
  wanted.wr.rdma.rkey = c.buffer.rkey();
  wanted.send_flags = 0;
  std::uint32_t posted = 0;
  while (posted <= c.left.send_depth() && c.left.try_post_send(wanted) == 0) ++posted;
  if (!c.device.is_soft())
    // Drivers may free a slot that needs no completion as soon as the request is done.
    CHECK(posted >= 16);
  else
    CHECK(posted == c.left.send_depth());
  if (posted <= c.left.send_depth())
    CHECK_THAT(test::error_of([&] { c.left.post_send(wanted); }).what(),
               Contains("send requests are outstanding"));
  c.left.to_error();
}

TEST_CASE("a chain of requests is posted by one call, in order", "[device]") {
  test::connected c;
  c.buffer.data()[0] = std::byte{1};
  c.buffer.data()[1] = std::byte{2};
  ibv_sge pieces[2] = {c.piece(0, 1), c.piece(1, 1)};
  ibv_send_wr second = test::request(IBV_WR_RDMA_WRITE, pieces[1]);
  second.wr.rdma.remote_addr = address_of(c, target);
  second.wr.rdma.rkey = c.buffer.rkey();
  ibv_send_wr first = second;
  first.wr_id = 1;
  first.sg_list = &pieces[0];
  first.send_flags = 0;
  first.next = &second;
  c.left.post_send(first);
  CHECK(next_completion(c.left_queue).wr_id == 0xabc);  // unsignalled requests report nothing
  CHECK(c.buffer.data()[target] == std::byte{2});
  CHECK(test::stays_empty(c.left_queue, std::chrono::milliseconds{1}));
}

TEST_CASE("a wrong remote key, bounds or right fails the request and both queue pairs", "[device]") {
  struct fault {
    const char* name;
    int access;  // of the queue pair
    std::uint64_t offset;
    std::uint32_t key_change;
    ibv_wc_status status;
  };
  const auto f =
      GENERATE(fault{"key", test::all_access, target, 0x100, IBV_WC_REM_ACCESS_ERR},
               fault{"bounds", test::all_access, 64 * 1024 - 7, 0, IBV_WC_REM_ACCESS_ERR},
               fault{"right of the queue pair", IBV_ACCESS_REMOTE_READ, target, 0, IBV_WC_REM_INV_REQ_ERR});
  INFO(f.name);
  test::connected c(f.access);
  ibv_recv_wr receive{.wr_id = 3};
  c.right.post_recv(receive);
  ibv_sge piece = c.piece(0, 8);
  ibv_send_wr wanted = test::request(IBV_WR_RDMA_WRITE, piece);
  wanted.wr.rdma.remote_addr = address_of(c, f.offset);
  wanted.wr.rdma.rkey = c.buffer.rkey() + f.key_change;
  c.left.post_send(wanted);
  const ibv_wc failed = next_completion(c.left_queue);
  INFO(describe(failed, "RDMA write"));
  if (c.device.is_soft())
    CHECK(failed.status == f.status);
  else
    CHECK((failed.status == IBV_WC_REM_ACCESS_ERR || failed.status == IBV_WC_REM_INV_REQ_ERR));
  CHECK(failed.wr_id == 0xabc);
  CHECK(failed.qp_num == c.left.number());
  CHECK(next_completion(c.right_queue).status == IBV_WC_WR_FLUSH_ERR);
  CHECK(c.left.state() == IBV_QPS_ERR);
  CHECK(c.right.state() == IBV_QPS_ERR);
  c.left.post_send(wanted);
  CHECK(next_completion(c.left_queue).status == IBV_WC_WR_FLUSH_ERR);
}

TEST_CASE("a wrong local key is a local protection error", "[device]") {
  test::connected c;
  ibv_sge piece = c.piece(0, 8);
  piece.lkey += 0x100;
  ibv_send_wr wanted = test::request(IBV_WR_RDMA_WRITE, piece);
  wanted.wr.rdma.remote_addr = address_of(c, target);
  wanted.wr.rdma.rkey = c.buffer.rkey();
  c.left.post_send(wanted);
  const auto status = next_completion(c.left_queue).status;
  if (c.device.is_soft())
    CHECK(status == IBV_WC_LOC_PROT_ERR);
  else  // Soft-RoCE says LOC_QP_OP_ERR
    CHECK((status == IBV_WC_LOC_PROT_ERR || status == IBV_WC_LOC_QP_OP_ERR));
}

TEST_CASE("a receive that is too short fails on both sides", "[device]") {
  test::connected c;
  ibv_sge into = c.piece(target, 10);
  ibv_recv_wr receive{.wr_id = 3, .next = nullptr, .sg_list = &into, .num_sge = 1};
  c.right.post_recv(receive);
  ibv_sge piece = c.piece(0, 11);
  ibv_send_wr wanted = test::request(IBV_WR_SEND, piece);
  c.left.post_send(wanted);
  const auto right = next_completion(c.right_queue).status;
  const auto left = next_completion(c.left_queue).status;
  if (c.device.is_soft()) {
    CHECK(right == IBV_WC_LOC_LEN_ERR);
    CHECK(left == IBV_WC_REM_INV_REQ_ERR);
  } else {  // Soft-RoCE says LOC_QP_OP_ERR and REM_OP_ERR
    CHECK((right == IBV_WC_LOC_LEN_ERR || right == IBV_WC_LOC_QP_OP_ERR));
    CHECK((left == IBV_WC_REM_INV_REQ_ERR || left == IBV_WC_REM_OP_ERR));
  }
}

TEST_CASE("a sender without a receive gives up after its retries", "[device]") {
  test::rig r;
  queue_pair left(r.domain, r.options(IBV_QPT_RC));
  queue_pair right(r.domain, r.options(IBV_QPT_RC));
  r.connect(left, right, 0, {.min_rnr_timer = 1, .rnr_retry = 1});
  r.connect(right, left, 0, {.min_rnr_timer = 1});
  ibv_sge piece = r.piece(0, 8);
  ibv_send_wr wanted = test::request(IBV_WR_SEND, piece);
  left.post_send(wanted);
  CHECK(next_completion(r.queue).status == IBV_WC_RNR_RETRY_EXC_ERR);
}

TEST_CASE("a queue pair that is gone is silence: retries are exceeded", "[device]") {
  test::rig r;
  queue_pair left(r.domain, r.options(IBV_QPT_RC));
  queue_pair right(r.domain, r.options(IBV_QPT_RC));
  r.connect(left, right, 0, {.timeout = 8, .retry = 1});
  right.close();
  ibv_sge piece = r.piece(0, 8);
  ibv_send_wr wanted = test::request(IBV_WR_SEND, piece);
  left.post_send(wanted);
  const ibv_wc failed = next_completion(r.queue);
  CHECK(failed.status == IBV_WC_RETRY_EXC_ERR);
  CHECK_THAT(describe(failed, "send"), Contains("send on QP") && Contains("does not answer"));
}
