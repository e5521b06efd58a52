// SPDX-License-Identifier: Apache-2.0
// sim0: the times and the order of events.
#include <algorithm>
#include <random>

#include "simulated_hosts.hpp"

using namespace simulated;
using namespace std::chrono_literals;

namespace {

/// The most by which a polling loop sees a completion late: one round, and the time of its polls.
constexpr duration a_look = 100ns;

/// Two hosts with a connection.
struct two_hosts {
  explicit two_hosts(fabric& all, verbs::connection details = {}, ibv_qp_type type = IBV_QPT_RC)
      : time(all.time()),
        left(endpoint_on(all, 0)),
        right(endpoint_on(all, 1)),
        there(right->pair(type)),
        here(left->pair(type)) {
    connect(here, *left, there, *right, details);
    connect(there, *right, here, *left, details);
  }
  scheduler& time;
  std::unique_ptr<endpoint> left, right;
  verbs::queue_pair there, here;
};

/// The times, from the machine's costs, of a message that is posted at `now` from host 0 to host 1 and back,
/// on an idle network: computed independently.
struct expectation {
  expectation(const machine& m, instant now, std::uint64_t bytes, bool takes_receive) {
    const auto& a = m.adapter;
    const auto& n = m.network;
    const auto on_link = [&](std::uint64_t size) {
      const std::uint64_t packets = size == 0 ? 1 : (size + n.packets.payload - 1) / n.packets.payload;
      return n.host_link.rate(size + packets * n.packets.connected);
    };
    const auto way = 2 * n.host_link.delay + n.switches.forward;
    const instant leaves = now + a.posting.request + a.posting.doorbell + a.sending.start + a.sending.fetch;
    const instant come = leaves + on_link(bytes) + way;
    seen = come + a.receiving.place;
    if (takes_receive) seen += a.receiving.take + a.receiving.complete;
    answered = come + a.receiving.acknowledge + on_link(0) + way + a.receiving.place + a.receiving.complete;
  }
  instant seen;
  instant answered;
};

}  // namespace

TEST_CASE("a message takes the time of the machine's costs", "[device]") {
  const std::uint64_t bytes = GENERATE(1u, 8u, 4096u, 65536u);
  on_hosts(2, [&](fabric& all) {
    two_hosts on(all);
    const bool writes = bytes % 8 == 0 && bytes != 8;
    ibv_sge piece = on.left->piece(0, bytes);
    ibv_send_wr wr = writes ? write_to(*on.right, 0, piece) : request(IBV_WR_SEND, piece);
    if (!writes) post_receive(on.there, 7, on.right->piece(0, bytes));
    on.left->buffer.data()[bytes - 1] = std::byte{9};
    const instant begin = on.time.now();
    const expectation expected(small_machine(2), begin, bytes, !writes);
    on.here.post_send(wr);
    // Not one picosecond earlier.
    on.time.sleep_until(expected.seen - duration{1});
    CHECK(on.right->buffer.data()[bytes - 1] == std::byte{0});
    on.time.sleep_until(expected.seen);
    CHECK(on.right->buffer.data()[bytes - 1] == std::byte{9});
    CHECK(next(on.left->queue).status == IBV_WC_SUCCESS);
    CHECK(on.time.now() >= expected.answered);
    CHECK(on.time.now() <= expected.answered + a_look);
  });
}

TEST_CASE("a payload is read when the adapter gets to it, unless it is inline", "[device]") {
  on_hosts(2, [](fabric& all) {
    two_hosts on(all);
    const bool copied = GENERATE(false, true);
    ibv_sge large = on.left->piece(1024, 32768);
    ibv_sge small = on.left->piece(0, 8);
    ibv_send_wr first = write_to(*on.right, 1024, large);
    ibv_send_wr second = write_to(*on.right, 0, small, 2);
    if (copied) second.send_flags |= IBV_SEND_INLINE;
    first.next = &second;
    on.left->buffer.data()[0] = std::byte{1};
    on.here.post_send(first);
    on.left->buffer.data()[0] = std::byte{2};
    CHECK(next(on.left->queue).wr_id == 1);
    CHECK(next(on.left->queue).wr_id == 2);
    CHECK(on.right->buffer.data()[0] == (copied ? std::byte{1} : std::byte{2}));
  });
}

TEST_CASE("an adapter that is late reads the payload of that time", "[device]") {
  const bool held_up = GENERATE(false, true);
  on_hosts(2, [&](fabric& all) {
    two_hosts on(all);
    if (held_up) all.chance() = device::disturbance{{.held_up = 1'000'000, .longest_delay = 50us}, 1};
    ibv_sge piece = on.left->piece(0, 8);
    int changed = 0;
    for (int i = 0; i < 100; ++i) {
      on.left->buffer.data()[0] = std::byte{1};
      ibv_send_wr wr = write_to(*on.right, 0, piece);
      on.here.post_send(wr);
      // By now it has been read, unless the adapter is late.
      on.time.sleep_until(on.time.now() + 1us);
      on.left->buffer.data()[0] = std::byte{2};
      CHECK(next(on.left->queue).status == IBV_WC_SUCCESS);
      changed += on.right->buffer.data()[0] == std::byte{2} ? 1 : 0;
    }
    CHECK((changed > 0) == held_up);
  });
}

TEST_CASE("an inline request does not overtake one whose payload is fetched", "[device]") {
  const ibv_qp_type type = GENERATE(IBV_QPT_RC, IBV_QPT_UC);
  machine m = small_machine(2);
  m.adapter.burst = GENERATE(1U << 31, 256U);  // as a whole, or in four bursts
  on_machine(m, [&](fabric& all) {
    two_hosts on(all, {}, type);
    ibv_sge fetched = on.left->piece(0, 1000);
    ibv_sge copied = on.left->piece(2000, 8);
    ibv_send_wr first = write_to(*on.right, 0, fetched);
    ibv_send_wr second = request(IBV_WR_SEND, copied, 2);
    second.send_flags |= IBV_SEND_INLINE;
    first.next = &second;
    on.left->buffer.data()[999] = std::byte{1};
    post_receive(on.there, 1, on.right->piece(4000, 8));
    const instant begin = on.time.now();
    on.here.post_send(first);
    CHECK(next(on.right->queue).wr_id == 1);
    CHECK(on.right->buffer.data()[999] == std::byte{1});
    CHECK(on.time.now() - begin < 5us);  // and nothing is retransmitted
  });
}

TEST_CASE("no request overtakes a long message posted before it, even if an earlier one has just left",
          "[device]") {
  machine m = small_machine(2);
  m.adapter.burst = 256;
  on_machine(m, [&](fabric& all) {
    two_hosts on(all);
    ibv_sge small = on.left->piece(0, 8);
    ibv_sge large = on.left->piece(1000, 1000);
    ibv_send_wr first = write_to(*on.right, 0, small);
    ibv_send_wr second = write_to(*on.right, 1000, large, 2);
    ibv_send_wr third = request(IBV_WR_SEND, small, 3);
    first.send_flags |= IBV_SEND_INLINE;
    third.send_flags |= IBV_SEND_INLINE;
    first.next = &second;
    second.next = &third;
    on.left->buffer.data()[1999] = std::byte{1};
    post_receive(on.there, 1, on.right->piece(4000, 8));
    const instant begin = on.time.now();
    on.here.post_send(first);
    CHECK(next(on.right->queue).wr_id == 1);
    CHECK(on.right->buffer.data()[1999] == std::byte{1});
    CHECK(on.time.now() - begin < 5us);  // and nothing is retransmitted
  });
}

TEST_CASE("a write after a send is executed after it, though the target handles it faster", "[device]") {
  on_hosts(2, [](fabric& all) {
    two_hosts on(all);
    ibv_sge piece = on.left->piece(0, 8);
    ibv_send_wr message = request(IBV_WR_SEND, piece);
    ibv_send_wr write = write_to(*on.right, 100, piece, 2);
    message.next = &write;
    message.send_flags = write.send_flags = unsigned{IBV_SEND_INLINE} | IBV_SEND_SIGNALED;
    on.left->buffer.data()[0] = std::byte{1};
    post_receive(on.there, 1, on.right->piece(0, 8));
    const instant begin = on.time.now();
    on.here.post_send(message);
    while (on.right->buffer.data()[100] == std::byte{0} && on.time.now() - begin < 1ms) on.time.give_way();
    CHECK(on.right->buffer.data()[0] == std::byte{1});
    CHECK(on.time.now() - begin < 5us);
  });
}

TEST_CASE("long messages of two queue pairs leave by turns", "[device]") {
  constexpr std::size_t bytes = 1 << 20;
  // The arrival times of `count` messages, posted at once to different hosts.
  const auto arrivals = [](int count, std::uint32_t burst) {
    std::vector<duration> took;
    machine m = small_machine(3);
    m.adapter.burst = burst;
    on_machine(m, [&](fabric& all) {
      auto from = endpoint_on(all, 0, bytes);
      std::vector<std::unique_ptr<endpoint>> to;
      std::vector<verbs::queue_pair> here, there;
      std::fill_n(from->buffer.data(), bytes, std::byte{6});
      for (int i = 0; i < count; ++i) {
        to.push_back(endpoint_on(all, 1 + i, bytes));
        here.push_back(from->pair());
        there.push_back(to.back()->pair());
        connect(here.back(), *from, there.back(), *to.back());
        connect(there.back(), *to.back(), here.back(), *from);
      }
      const instant begin = all.time().now();
      for (std::size_t i = 0; i < here.size(); ++i) {
        ibv_sge piece = from->piece(0, bytes);
        ibv_send_wr wr = write_to(*to[i], 0, piece);
        here[i].post_send(wr);
      }
      for (int i = 0; i < count; ++i) {
        CHECK(next(from->queue).status == IBV_WC_SUCCESS);
        took.push_back(all.time().now() - begin);
      }
      for (const auto& one : to)
        CHECK(std::all_of(one->buffer.data(), one->buffer.data() + bytes,
                          [](std::byte b) { return b == std::byte{6}; }));
    });
    return took;
  };
  const duration alone = arrivals(1, 1U << 31).front();
  const duration in_bursts = arrivals(1, 16384).front();
  CHECK(in_bursts >= alone);
  CHECK(in_bursts < alone * 21 / 20);
  const auto whole = arrivals(2, 1U << 31);
  CHECK(whole[0] < alone * 11 / 10);
  CHECK(whole[1] > alone * 18 / 10);
  const auto by_turns = arrivals(2, 16384);
  CHECK(by_turns[0] > alone * 18 / 10);
  CHECK(by_turns[1] < alone * 22 / 10);
}

TEST_CASE("a short message passes a long one of another queue pair", "[device]") {
  machine m = small_machine(3);
  m.adapter.burst = 16384;
  on_machine(m, [](fabric& all) {
    constexpr std::size_t bytes = 1 << 20;
    auto from = endpoint_on(all, 0, bytes);
    auto first = endpoint_on(all, 1, bytes);
    auto second = endpoint_on(all, 2);
    verbs::queue_pair to_first = from->pair(), to_second = from->pair();
    verbs::queue_pair at_first = first->pair(), at_second = second->pair();
    connect(to_first, *from, at_first, *first);
    connect(at_first, *first, to_first, *from);
    connect(to_second, *from, at_second, *second);
    connect(at_second, *second, to_second, *from);
    ibv_sge piece = from->piece(0, bytes);
    ibv_send_wr wr = write_to(*first, 0, piece, 1);
    to_first.post_send(wr);
    all.time().sleep_until(all.time().now() + 40us);  // half of the long one has left
    const instant begin = all.time().now();
    piece = from->piece(0, 8);
    wr = write_to(*second, 0, piece, 2);
    to_second.post_send(wr);
    CHECK(next(from->queue).wr_id == 2);
    // At most two bursts of 1.3 us are ahead of it.
    CHECK(all.time().now() - begin < 5us);
    CHECK(next(from->queue).wr_id == 1);
  });
}

TEST_CASE("requests of two senders are executed in the order of each", "[device]") {
  static constexpr std::uint64_t count = 1000;
  on_hosts(3, [](fabric& all) {
    std::mt19937 random{4711};
    auto target = endpoint_on(all, 0);
    auto a = endpoint_on(all, 1);
    auto b = endpoint_on(all, 2);
    verbs::queue_pair from_a = target->pair(), from_b = target->pair(), at_a = a->pair(), at_b = b->pair();
    connect(from_a, *target, at_a, *a);
    connect(from_b, *target, at_b, *b);
    connect(at_a, *a, from_a, *target);
    connect(at_b, *b, from_b, *target);
    for (std::uint64_t id = 0; id < count; ++id) {
      post_receive(from_a, id, target->piece(0, 4096));
      post_receive(from_b, id, target->piece(4096, 4096));
    }
    std::uint64_t arrived_a = 0, arrived_b = 0;
    for (std::uint64_t id = 0; id < count; ++id) {
      ibv_sge piece = a->piece(0, random() % 4096);
      ibv_send_wr wr = request(IBV_WR_SEND, piece, id);
      at_a.post_send(wr);
      piece = b->piece(0, random() % 4096);
      wr = request(IBV_WR_SEND, piece, id);
      at_b.post_send(wr);
    }
    for (std::uint64_t k = 0; k < 2 * count; ++k) {
      const ibv_wc got = next(target->queue);
      CHECK(got.status == IBV_WC_SUCCESS);
      CHECK(got.wr_id == (got.qp_num == from_a.number() ? arrived_a++ : arrived_b++));
    }
    CHECK(arrived_a == count);
    for (std::uint64_t id = 0; id < count; ++id) {
      CHECK(next(a->queue).wr_id == id);
      CHECK(next(b->queue).wr_id == id);
    }
  });
}

TEST_CASE("a requester without an answer gives up when its retries are used up", "[device]") {
  on_hosts(2, [](fabric& all) {
    // The ends disagree on packet numbers, so no request is accepted.
    two_hosts on(all, {.remote_psn = 5, .local_psn = 6, .timeout = 8, .retry = 2});
    ibv_sge piece = on.left->piece(0, 8);
    ibv_send_wr wr = write_to(*on.right, 0, piece);
    const instant begin = on.time.now();
    on.here.post_send(wr);
    const ibv_wc done = next(on.left->queue);
    CHECK(done.status == IBV_WC_RETRY_EXC_ERR);
    CHECK(done.vendor_err == 0x81);
    // The first attempt and two retries, each 4.096 us * 2^8.
    const duration patience = 3 * 256 * 4096ns;
    CHECK(on.time.now() - begin >= patience);
    CHECK(on.time.now() - begin <= patience + 30us);
    CHECK(on.right->buffer.data()[0] == std::byte{0});
  });
}

TEST_CASE("a message without a receive is retransmitted after the responder's RNR timer", "[device]") {
  on_hosts(2, [](fabric& all) {
    two_hosts on(all, {.min_rnr_timer = 14});  // 1.28 ms, by the table of the specification
    ibv_sge piece = on.left->piece(0, 8);
    ibv_send_wr wr = request(IBV_WR_SEND, piece);
    const instant begin = on.time.now();
    on.here.post_send(wr);
    on.time.sleep_until(begin + 2ms);
    post_receive(on.there, 1, on.right->piece(0, 8));
    CHECK(next(on.right->queue).wr_id == 1);
    // Attempts at the beginning, after 1.28 ms, and after 2.56 ms.
    CHECK(on.time.now() - begin >= 2560us);
    CHECK(on.time.now() - begin <= 2560us + 30us);
    CHECK(next(on.left->queue).status == IBV_WC_SUCCESS);
  });
}

TEST_CASE("two runs have the same events at the same times", "[device]") {
  struct entry {
    std::int64_t time;
    int rank;
    std::uint64_t id;
    std::uint32_t qp;
    bool operator==(const entry&) const = default;
  };
  const auto traffic = [] {
    std::vector<entry> log;
    std::vector<std::unique_ptr<endpoint>> all(4);
    std::vector<std::vector<verbs::queue_pair>> pairs(4);
    int made = 0;
    int ended = 0;
    on_ranks(4, [&](int rank) {
      const auto self = static_cast<std::size_t>(rank);
      scheduler& time = fabric::current()->time();
      const auto wait_until = [&](const int& count, int wanted) {
        while (count < wanted) time.give_way();
      };
      all[self] = std::make_unique<endpoint>();
      for (int peer = 0; peer < 4; ++peer) pairs[self].push_back(all[self]->pair());
      ++made;
      wait_until(made, 4);
      for (std::size_t peer = 0; peer < 4; ++peer)
        connect(pairs[self][peer], *all[self], pairs[peer][self], *all[peer]);
      ++made;
      wait_until(made, 8);
      std::mt19937 random{static_cast<unsigned>(rank)};
      for (std::uint64_t id = 0; id < 200; ++id) {
        const std::size_t peer = random() % 4;
        ibv_sge piece = all[self]->piece(0, random() % 20000);
        ibv_send_wr wr = write_to(*all[peer], 32768, piece, id);
        if (random() % 3 == 0) wr.opcode = IBV_WR_RDMA_READ;
        pairs[self][peer].post_send(wr);
      }
      for (std::uint64_t id = 0; id < 200; ++id) {
        const ibv_wc done = next(all[self]->queue);
        if (done.status != IBV_WC_SUCCESS) throw std::runtime_error("a request failed");
        log.push_back({time.now().time_since_epoch().count(), rank, done.wr_id, done.qp_num});
      }
      ++ended;
      wait_until(ended, 4);
      pairs[self].clear();
      all[self] = nullptr;
    });
    return log;
  };
  const auto first = traffic();
  CHECK(first.size() == 800);
  CHECK(first == traffic());
}
