// SPDX-License-Identifier: Apache-2.0
// The deferred engine of the software device: it uses the freedom that the specification leaves, keeps its
// promises, and a seed reproduces each decision. All within this process, for many seeds.
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include <catch2/catch.hpp>

#include <chorale/verbs/soft_counters.hpp>

#include "soft_environment.hpp"
#include "soft_pair.hpp"

using namespace soft_test;
using chorale::verbs::read_soft_counters;

namespace {

/// Enables the deferred engine, with that environment.
class deferred {
 public:
  explicit deferred(int seed, std::map<std::string, std::string> more = {})
      : variables_(with(std::move(more), seed)) {}

 private:
  static std::map<std::string, std::string> with(std::map<std::string, std::string> more, int seed) {
    more["CHORALE_SOFT_ENGINE"] = "deferred";
    more["CHORALE_SOFT_SEED"] = std::to_string(seed);
    return more;
  }
  variables variables_;
};

bool all_are(const unsigned char* data, std::size_t bytes, int value) {
  return std::all_of(data, data + bytes, [value](unsigned char c) { return c == value; });
}

/// The numbers of those datagrams of a burst of `count` that arrive, in order of arrival.
std::vector<int> burst(int seed, int count, const std::map<std::string, std::string>& more = {}) {
  const deferred engine(seed, more);
  node n;
  ibv_qp* from = make_qp(n, IBV_QPT_UD);
  ibv_qp* to = make_qp(n, IBV_QPT_UD);
  start_ud(from);
  start_ud(to);
  ibv_ah* ah = make_ah(n, false);
  std::vector<int> arrived;
  {
    memory sent(n, 65536, true);
    memory got(n, 65536, true);
    for (std::size_t i = 0; i < 250; ++i) REQUIRE(post_receive(to, i, {sge(got, i * 64, 64)}) == 0);
    for (int i = 0; i < count; ++i) {
      std::memcpy(sent.data + 64 * i, &i, sizeof i);
      REQUIRE(post_datagram(from, {sge(sent, 64 * static_cast<std::size_t>(i), 8)}, IBV_SEND_SIGNALED, ah,
                            to->qp_num) == 0);
    }
    for (int i = 0; i < count; ++i) CHECK(wait(n.send_cq).status == IBV_WC_SUCCESS);
    // Each poll is a tick of the engine's clock, and no datagram stays in flight for that many.
    ibv_wc wc;
    for (int look = 0; look < 500; ++look) {
      if (ibv_poll_cq(n.recv_cq, 1, &wc) != 1) continue;
      int number = -1;
      std::memcpy(&number, got.data + 64 * wc.wr_id + 40, sizeof number);
      arrived.push_back(number);
    }
  }
  soft().destroy_ah(ah);
  soft().destroy_qp(from);
  soft().destroy_qp(to);
  return arrived;
}

/// Changes memory that the device may be reading, as a program must not. Hidden from the thread sanitizer,
/// since this race is tested.
__attribute__((no_sanitize("thread"), noinline)) void change_too_early(volatile char* data, char value,
                                                                       int bytes) {
  for (int i = 0; i < bytes; ++i) data[i] = value;
}

/// Reads an aligned word that a device may be writing at this moment; this race is tested as well.
__attribute__((no_sanitize("thread"), noinline)) std::uint64_t glance(const volatile unsigned char* address) {
  return *reinterpret_cast<const volatile std::uint64_t*>(address);
}

}  // namespace

TEST_CASE("A send buffer that is changed too early arrives as poison", "[deferred]") {
  int poisoned = 0;
  for (int seed = 1; seed <= 40; ++seed) {
    INFO("seed " << seed);
    const deferred engine(seed);
    pair l;
    std::memset(l.from.data, 1, 100);
    REQUIRE(l.write(100) == 0);
    change_too_early(reinterpret_cast<volatile char*>(l.from.data), 2, 100);
    CHECK(wait(l.here.send_cq).status == IBV_WC_SUCCESS);
    const bool early = all_are(l.to.data, 100, 0xdb);
    // The service thread may execute the request while this thread changes the buffer: then the message has
    // passed the check already, and each byte arrives as it was when the device read it.
    CHECK(
        (early || std::all_of(l.to.data, l.to.data + 100, [](unsigned char c) { return c == 1 || c == 2; })));
    CHECK(read_soft_counters(l.here.context).changed == (early ? 1 : 0));
    poisoned += early ? 1 : 0;
    // Inline data belong to the device from the start.
    std::memset(l.from.data, 3, 100);
    REQUIRE(l.write(100, IBV_SEND_SIGNALED | IBV_SEND_INLINE) == 0);
    std::memset(l.from.data, 4, 100);
    CHECK(wait(l.here.send_cq).status == IBV_WC_SUCCESS);
    CHECK(all_are(l.to.data, 100, 3));
  }
  CHECK(poisoned > 5);
  CHECK(poisoned < 35);
}

TEST_CASE("A later write overtakes a read, unless it has a fence; completions keep their order",
          "[deferred]") {
  int overtaken = 0;
  for (int seed = 1; seed <= 60; ++seed) {
    for (const bool fence : {false, true}) {
      INFO("seed " << seed << (fence ? ", fence" : ""));
      const deferred engine(seed);
      pair l;
      std::memset(l.to.data, 1, 8);
      std::memset(l.from.data, 2, 8);
      std::memset(l.from.data + 64, 9, 8);
      REQUIRE(post(l.a, IBV_WR_RDMA_READ, {sge(l.from, 64, 8)}, IBV_SEND_SIGNALED, l.to.address(),
                   l.to.mr->rkey) == 0);
      // The service thread may already have executed the read.
      const std::uint64_t word = glance(l.from.data + 64);
      CHECK((word == 0xdbdb'dbdb'dbdb'dbdb || word == 0x0101'0101'0101'0101));
      const unsigned flags = fence ? IBV_SEND_SIGNALED | IBV_SEND_FENCE : IBV_SEND_SIGNALED;
      REQUIRE(l.write(8, flags) == 0);
      CHECK(wait(l.here.send_cq).opcode == IBV_WC_RDMA_READ);
      CHECK(wait(l.here.send_cq).opcode == IBV_WC_RDMA_WRITE);
      CHECK(all_are(l.to.data, 8, 2));
      const bool late = all_are(l.from.data + 64, 8, 2);
      CHECK((late || all_are(l.from.data + 64, 8, 1)));
      if (fence) CHECK_FALSE(late);
      CHECK(read_soft_counters(l.here.context).overtaken == (late ? 1 : 0));
      overtaken += late ? 1 : 0;
    }
  }
  CHECK(overtaken > 3);
}

TEST_CASE("Writes and sends of one connection arrive whole and in order", "[deferred]") {
  std::mt19937 random{7};
  int unordered = 0;
  for (int seed = 1; seed <= 20; ++seed) {
    INFO("seed " << seed);
    const deferred engine(seed);
    pair l;
    const bool ordered = soft().query_qp_data_in_order(l.a, IBV_WR_RDMA_WRITE, 0) == 1;
    unordered += ordered ? 0 : 1;
    for (std::size_t i = 0; i < l.from.bytes; ++i) l.from.data[i] = static_cast<unsigned char>(random());
    for (int message = 0; message < 8; ++message) {
      const std::size_t to = random() % 200;
      std::vector<ibv_sge> list;
      std::vector<unsigned char> expected;
      for (auto pieces = random() % 5; pieces != 0; --pieces) {
        const std::size_t at = random() % 30000, bytes = random() % 3000;
        list.push_back(sge(l.from, at, bytes));
        expected.insert(expected.end(), l.from.data + at, l.from.data + at + bytes);
      }
      REQUIRE(post_receive(l.b, static_cast<std::uint64_t>(message), {sge(l.to, 40000, 16000)}) == 0);
      CHECK(l.to.data[40000] == 0xdb);
      REQUIRE(post(l.a, IBV_WR_RDMA_WRITE, list, 0, l.to.address() + to, l.to.mr->rkey) == 0);
      REQUIRE(post(l.a, IBV_WR_SEND, list, IBV_SEND_SIGNALED) == 0);
      const auto got = wait(l.there.recv_cq);
      CHECK(got.wr_id == static_cast<std::uint64_t>(message));
      REQUIRE(got.byte_len == expected.size());
      CHECK(std::equal(expected.begin(), expected.end(), l.to.data + 40000));
      // The write precedes the send, so its data are there.
      CHECK(std::equal(expected.begin(), expected.end(), l.to.data + to));
      CHECK(wait(l.here.send_cq).status == IBV_WC_SUCCESS);
    }
    CHECK(read_soft_counters(l.here.context).held > 0);
    CHECK(read_soft_counters(l.here.context).scattered > 0);
    CHECK((read_soft_counters(l.here.context).disordered == 0) == ordered);
  }
  CHECK(unordered > 2);
  CHECK(unordered < 18);
}

TEST_CASE("Where memory keeps no order, writes overtake each other, but no completion", "[deferred]") {
  constexpr std::size_t writes = 12;
  const auto word_at = [](const pair& l, std::size_t index) { return glance(l.to.data + 4096 * index); };
  const auto play = [&](const std::string& profile, std::uint64_t seed, ibv_wr_opcode last) {
    const deferred engine(static_cast<int>(seed), {{"CHORALE_SOFT_PROFILE", profile}});
    pair l;
    std::memset(l.to.data, 0, l.to.bytes);
    REQUIRE(post_receive(l.b, 0, {sge(l.to, 60000, 64)}) == 0);
    int overtaken = 0;
    for (std::size_t i = 0; i < writes; ++i) {
      const std::uint64_t word = i + 1;
      std::memcpy(l.from.data + 64 * i, &word, sizeof word);
      REQUIRE(post(l.a, IBV_WR_RDMA_WRITE, {sge(l.from, 64 * i, 8)}, 0, l.to.address() + 4096 * i,
                   l.to.mr->rkey) == 0);
      // Of two words, the later one is there and the earlier one is not.
      for (std::size_t later = 1; later <= i; ++later)
        for (std::size_t earlier = 0; earlier < later; ++earlier)
          overtaken += word_at(l, later) != 0 && word_at(l, earlier) == 0 ? 1 : 0;
    }
    const bool reads = last == IBV_WR_RDMA_READ || last == IBV_WR_ATOMIC_FETCH_AND_ADD;
    REQUIRE(post(l.a, last, {sge(l.from, 8192, 8)}, IBV_SEND_SIGNALED, l.to.address() + 49152,
                 l.to.mr->rkey) == 0);
    CHECK(wait(reads ? l.here.send_cq : l.there.recv_cq).status == IBV_WC_SUCCESS);
    for (std::size_t i = 0; i < writes; ++i) CHECK(word_at(l, i) == i + 1);
    return overtaken;
  };
  for (const ibv_wr_opcode last :
       {IBV_WR_SEND, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD}) {
    int of_unordered = 0;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      INFO("seed " << seed << ", at the end opcode " << last);
      of_unordered += play("placement=unordered", seed, last);
      of_unordered += play("placement=within-request", seed, last);
      CHECK(play("placement=ordered", seed, last) == 0);
      CHECK(play("", seed, last) == 0);
    }
    CHECK(of_unordered > 0);
  }
}

TEST_CASE("A device keeps the order within a write that it reports", "[deferred]") {
  // Whether the last word of an aligned half of 128 bytes is visible before its first.
  const auto torn = [](const std::string& profile, int seed) {
    const deferred engine(seed, {{"CHORALE_SOFT_PROFILE", profile}});
    pair l;
    int found = 0;
    for (std::uint64_t value = 1; value <= 12; ++value) {
      for (std::size_t i = 0; i < 256; i += 8) std::memcpy(l.from.data + i, &value, 8);
      const std::uint64_t aligned = (l.to.address() + 127) / 128 * 128;
      const unsigned char* const there = l.to.data + (aligned - l.to.address());
      const auto count = [&] {
        for (const std::size_t half : {std::size_t{0}, std::size_t{128}})
          found += glance(there + half + 120) == value && glance(there + half) != value ? 1 : 0;
      };
      REQUIRE(post(l.a, IBV_WR_RDMA_WRITE, {sge(l.from, 0, 256)}, IBV_SEND_SIGNALED, aligned,
                   l.to.mr->rkey) == 0);
      int completions = 0;
      for (int look = 0; completions == 0 && look < 1'000'000; ++look) {
        count();
        ibv_wc wc;
        completions = ibv_poll_cq(l.here.send_cq, 1, &wc);
      }
      REQUIRE(completions == 1);
      count();
    }
    return found;
  };
  int of_unordered = 0;
  for (int seed = 1; seed <= 12; ++seed) {
    INFO("seed " << seed);
    of_unordered += torn("placement=unordered", seed);
    CHECK(torn("placement=unordered,in_order=aligned", seed) == 0);
    CHECK(torn("placement=unordered,in_order=yes", seed) == 0);
    CHECK(torn("placement=within-request", seed) == 0);
  }
  CHECK(of_unordered > 0);
}

TEST_CASE("Datagrams overtake each other, and none is lost unless requested", "[deferred]") {
  std::vector<int> all(100);
  std::iota(all.begin(), all.end(), 0);
  int reordered = 0;
  for (int seed = 1; seed <= 5; ++seed) {
    INFO("seed " << seed);
    auto arrived = burst(seed, 100);
    reordered += std::is_sorted(arrived.begin(), arrived.end()) ? 0 : 1;
    std::sort(arrived.begin(), arrived.end());
    CHECK(arrived == all);
  }
  CHECK(reordered == 5);
}

TEST_CASE("A seed determines which datagrams are lost, and which arrive twice", "[deferred]") {
  std::set<std::vector<int>> different;
  for (int seed = 1; seed <= 4; ++seed) {
    INFO("seed " << seed);
    auto lossy = burst(seed, 100, {{"CHORALE_SOFT_LOSS", "20"}});
    auto again = burst(seed, 100, {{"CHORALE_SOFT_LOSS", "20"}});
    std::sort(lossy.begin(), lossy.end());
    std::sort(again.begin(), again.end());
    CHECK(lossy == again);
    CHECK(lossy.size() > 60);
    CHECK(lossy.size() < 97);
    different.insert(lossy);
    auto twice = burst(seed, 100, {{"CHORALE_SOFT_DUPLICATION", "20"}});
    std::sort(twice.begin(), twice.end());
    CHECK(twice.size() > 103);
    CHECK(std::set<int>(twice.begin(), twice.end()).size() == 100);
  }
  CHECK(different.size() == 4);
  CHECK(burst(1, 50, {{"CHORALE_SOFT_LOSS", "100"}}).empty());
}

TEST_CASE("A seed replays the order of arrival", "[deferred]") {
  // The engine's clock counts calls, but also advances by itself when the program does not run for a
  // millisecond, as happens on a busy machine. An order of a hundred would never repeat by chance.
  std::set<std::vector<int>> orders;
  bool repeated = false;
  for (int attempt = 0; attempt < 60 && !repeated; ++attempt) repeated = !orders.insert(burst(3, 100)).second;
  CHECK(repeated);
  CHECK_FALSE(orders.contains(burst(4, 100)));
}

TEST_CASE("A drained queue pair has executed all requests", "[deferred]") {
  for (int seed = 1; seed <= 10; ++seed) {
    INFO("seed " << seed);
    const deferred engine(seed);
    pair l;
    std::memset(l.from.data, 5, 64);
    for (int i = 0; i < 10; ++i) REQUIRE(l.write(64) == 0);
    ibv_qp_attr a{};
    a.qp_state = IBV_QPS_SQD;
    a.en_sqd_async_notify = 1;
    REQUIRE(soft().modify_qp(l.a, &a, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY) == 0);
    CHECK(next_event(l.here) == IBV_EVENT_SQ_DRAINED);
    CHECK(all_are(l.to.data, 64, 5));
    for (int i = 0; i < 10; ++i) CHECK(wait(l.here.send_cq).status == IBV_WC_SUCCESS);
  }
}

TEST_CASE("A fault is reported after all earlier requests, and flushes the later ones", "[deferred]") {
  for (int seed = 1; seed <= 20; ++seed) {
    INFO("seed " << seed);
    const deferred engine(seed);
    pair l;
    REQUIRE(post(l.a, IBV_WR_RDMA_READ, {sge(l.from, 64, 8)}, IBV_SEND_SIGNALED, l.to.address(),
                 l.to.mr->rkey) == 0);
    REQUIRE(l.write(8) == 0);
    REQUIRE(post(l.a, IBV_WR_RDMA_WRITE, {sge(l.from, 0, 8)}, IBV_SEND_SIGNALED, l.to.address(),
                 l.to.mr->rkey ^ 0x5500U) == 0);
    std::memset(l.from.data + 128, 7, 8);
    REQUIRE(post(l.a, IBV_WR_RDMA_WRITE, {sge(l.from, 128, 8)}, 0, l.to.address() + 128, l.to.mr->rkey) == 0);
    CHECK(wait(l.here.send_cq).opcode == IBV_WC_RDMA_READ);
    CHECK(wait(l.here.send_cq).status == IBV_WC_SUCCESS);
    CHECK(wait(l.here.send_cq).status == IBV_WC_REM_ACCESS_ERR);
    CHECK(wait(l.here.send_cq).status == IBV_WC_WR_FLUSH_ERR);
    CHECK(state_of(l.a) == IBV_QPS_ERR);
    CHECK(all_are(l.to.data + 128, 8, 0));
  }
}

TEST_CASE("A program that sleeps on its channel gets held completions", "[deferred]") {
  for (int seed = 1; seed <= 5; ++seed) {
    INFO("seed " << seed);
    const deferred engine(seed);
    node n(64, true);
    ibv_qp* a = make_qp(n, IBV_QPT_RC);
    ibv_qp* b = make_qp(n, IBV_QPT_RC);
    connect_rc(n, a, b->qp_num);
    connect_rc(n, b, a->qp_num);
    {
      memory m(n, 4096, true);
      REQUIRE(ibv_req_notify_cq(n.recv_cq, 0) == 0);
      REQUIRE(post_receive(b, 5, {sge(m, 0, 64)}) == 0);
      REQUIRE(post(a, IBV_WR_SEND, {sge(m, 64, 64)}, IBV_SEND_SIGNALED) == 0);
      pollfd p{n.channel->fd, POLLIN, 0};
      CHECK(poll(&p, 1, 10'000) == 1);
      ibv_cq* cq = nullptr;
      void* context = nullptr;
      REQUIRE(soft().get_cq_event(n.channel, &cq, &context) == 0);
      soft().ack_cq_events(cq, 1);
      CHECK(wait(n.recv_cq).wr_id == 5);
    }
    soft().destroy_qp(a);
    soft().destroy_qp(b);
  }
}

TEST_CASE("An invalid variable of the engine is refused", "[deferred]") {
  const std::vector<std::pair<std::string, std::string>> wrong{{"CHORALE_SOFT_ENGINE", "late"},
                                                               {"CHORALE_SOFT_SEED", "-1"},
                                                               {"CHORALE_SOFT_LOSS", "101"},
                                                               {"CHORALE_SOFT_LOSS", "nan"},
                                                               {"CHORALE_SOFT_DUPLICATION", "5%"},
                                                               {"CHORALE_SOFT_CONTEXTS", "0"},
                                                               {"CHORALE_SOFT_CONTEXT_MISS_NS", "1000001"},
                                                               {"CHORALE_SOFT_CONTEXT_MISS_NS", "1us"}};
  for (const auto& [name, value] : wrong) {
    INFO(name << '=' << value);
    setenv(name.c_str(), value.c_str(), 1);
    int count = 0;
    ibv_device** list = soft().get_device_list(&count);
    errno = 0;
    CHECK(soft().open_device(list[0]) == nullptr);
    CHECK(errno == EINVAL);
    soft().free_device_list(list);
    unsetenv(name.c_str());
  }
}
