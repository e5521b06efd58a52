// SPDX-License-Identifier: Apache-2.0
// Reliable streams among N ranks: each message is delivered once, in order and unchanged; no wait ends
// because of the silence of a live rank; memory is bounded; every rank ends.
#include <algorithm>
#include <vector>

#include "simulated_job.hpp"

using namespace protocols;

namespace {

using kind = step::kind;
using programs = std::vector<std::vector<step>>;

/// The steps of one call that all ranks make.
class call_writer {
 public:
  call_writer(programs& all, std::uint32_t call)
      : all_(all), call_(call), ranks_(static_cast<int>(all.size())) {}

  void barrier() {
    for (int distance = 1; distance < ranks_; distance *= 2) {
      each([&](int r) {
        add(r, kind::signal, r + distance);
        add(r, kind::signalled, r - distance);
      });
    }
  }
  /// Ranks give `held` messages back together, and need room for no more at a time.
  void ring(std::uint32_t messages, std::uint32_t held) {
    each([&](int r) {
      for (std::uint32_t i = 0; i < messages; ++i) {
        add(r, kind::send, r + 1);
        add(r, kind::receive, r - 1);
        if (i % held == 0) add(r, kind::give_back, r - 1);
      }
      add(r, kind::give_back, r - 1);
    });
  }
  void gather(int root, std::uint32_t messages) {
    each([&](int r) {
      for (int from = 0; from < ranks_; ++from) {
        if (from == root || (r != root && r != from)) continue;
        for (std::uint32_t i = 0; i < messages; ++i) {
          add(r, r == root ? kind::receive : kind::send, r == root ? from : root);
          if (r == root) add(r, kind::give_back, from);
        }
      }
    });
  }
  void broadcast(int root) {
    each([&](int r) {
      for (int to = 0; to < ranks_; ++to) {
        if (to == root) continue;
        if (r == root) add(r, kind::send, to);
        if (r == to) {
          add(r, kind::receive, root);
          add(r, kind::give_back, root);
        }
      }
    });
  }
  void all_to_all() {
    each([&](int r) {
      for (int d = 1; d < ranks_; ++d) add(r, kind::send, r + d);
      for (int d = 1; d < ranks_; ++d) {
        add(r, kind::receive, r - d);
        add(r, kind::give_back, r - d);
      }
    });
  }
  void puts(std::uint32_t bytes) {
    each([&](int r) {
      add(r, kind::put, r + 1, bytes);
      add(r, kind::notified, r - 1, bytes);
      add(r, kind::flush, r + 1);
    });
  }
  void gets(std::uint32_t bytes) {
    each([&](int r) { add(r, kind::get, r + 1, bytes); });
    barrier();
  }
  void counts(int owner) {
    each([&](int r) {
      if (r != owner) add(r, kind::add, owner);
    });
    barrier();
  }
  /// One rank computes or stops.
  void absence(int rank, kind what, clock::duration time) {
    add(rank, what, rank + 1,
        static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::microseconds>(time).count()));
  }

 private:
  template <class Write>
  void each(Write&& write) {
    for (int r = 0; r < ranks_; ++r) write(r);
  }
  void add(int rank, kind what, int peer, std::uint32_t amount = 0) {
    all_[static_cast<std::size_t>(rank)].push_back({what, (peer + ranks_) % ranks_, call_, amount});
  }

  programs& all_;
  std::uint32_t call_;
  int ranks_;
};

/// The size of a schedule.
struct extent {
  int most_ranks = 5;
  std::uint32_t most_calls = 4;
  std::uint32_t most_messages = 6;
  double long_absence = 0.002;  ///< probability that a rank is absent for longer than the limit of silence
};

programs write_programs(virtual_net& net, simulated_job& all, const extent& e, std::uint64_t& additions) {
  programs p(static_cast<std::size_t>(all.ranks));
  const auto any = [&] { return static_cast<int>(net.below(static_cast<std::uint64_t>(all.ranks))); };
  for (std::uint32_t call = 0; call < all.calls; ++call) {
    call_writer w{p, call};
    if (net.chance(0.15)) {
      const kind what = net.chance(0.3) ? kind::stop : kind::compute;
      clock::duration time = net.chance(0.2) ? net.between(1ms, 1500ms) : net.between(10us, 3ms);
      if (net.chance(e.long_absence))
        time = what == kind::compute || all.same_host ? net.between(10s, 40s) : 5s;
      w.absence(any(), what, time);
    }
    const auto messages = 1 + static_cast<std::uint32_t>(net.below(e.most_messages));
    switch (net.below(8)) {
      case 0:
        w.barrier();
        break;
      case 1:
        w.ring(messages, std::min(2U, all.options.blocks));
        break;
      case 2:
        w.gather(any(), messages);
        break;
      case 3:
        w.broadcast(any());
        break;
      case 4:
        w.all_to_all();
        break;
      case 5:
        w.puts(static_cast<std::uint32_t>(net.below(all.put_bytes + 1)));
        break;
      case 6:
        w.gets(static_cast<std::uint32_t>(net.below(stream_node::readable_bytes) + 1));
        break;
      default:
        additions += static_cast<std::uint64_t>(all.ranks) - 1;
        w.counts(0);
        break;
    }
  }
  return p;
}

void run_job(virtual_net& net, const extent& e) {
  simulated_job all{net};
  all.ranks = 2 + static_cast<int>(net.below(static_cast<std::uint64_t>(e.most_ranks - 1)));
  all.calls = 1 + static_cast<std::uint32_t>(net.below(e.most_calls));
  all.put_bytes = 400;
  constexpr double losses[] = {0, 0, 0.01, 0.1, 0.3};
  all.wrong = {.loss = losses[net.below(5)],
               .duplication = net.chance(0.3) ? 0.1 : 0,
               .most_delay = net.chance(0.2) ? clock::duration{2ms} : clock::duration{50us}};
  all.refusal = net.chance(0.2) ? 0.1 : 0;
  all.replay = net.chance(0.2) ? 0.05 : 0;
  all.damage = net.chance(0.2) ? 0.05 : 0;
  all.receives = net.chance(0.3) ? 2 + net.below(16) : 1024;
  all.same_host = net.chance(0.5);
  all.busy = net.chance(0.2);
  all.options.ranks = all.ranks;
  all.options.packet_bytes = 160;
  all.options.block_bytes = net.chance(0.5) ? 32 : 128;
  all.options.blocks = 1 + static_cast<std::uint32_t>(net.below(8));
  all.options.most_packets = net.chance(0.2) ? 1 + net.below(8) : 1024;
  all.options.secret = 42;
  all.options.least_timeout = all.busy ? clock::duration{2ms} : clock::duration{500us};
  for (int r = 0; r < all.ranks; ++r) all.nodes.push_back(std::make_unique<stream_node>(all, r));

  std::uint64_t additions = 0;
  auto p = write_programs(net, all, e, additions);
  const auto latest = net.chance(0.1) ? clock::duration{2s} : clock::duration{200us};
  for (int r = 0; r < all.ranks; ++r)
    all.nodes[static_cast<std::size_t>(r)]->run(std::move(p[static_cast<std::size_t>(r)]),
                                                net.between(0us, latest));

  const auto begun = net.now();
  const auto is_over = [&] {
    return std::all_of(all.nodes.begin(), all.nodes.end(), [](const auto& n) { return n->is_done(); });
  };
  for (std::uint64_t events = 0; net.step(); ++events) {
    if (events % 64 == 0 && is_over()) break;
    if (net.now() - begun > 600s) {
      std::string who;
      for (const auto& n : all.nodes) who += "; " + n->describe();
      violated("not over after 10 minutes" + who);
    }
  }
  if (!is_over()) violated("nothing happens any more, and a rank is not done");
  // All ten rounds of farewells may be lost only if three datagrams in ten are, or if queues overflow.
  if (all.missed_farewells != 0 && all.wrong.loss <= 0.1 && all.receives > 64)
    violated(fmt::format("{} farewells were missed", all.missed_farewells));
  if (all.nodes[0]->counter() != additions)
    violated(fmt::format("{} additions were done of {}", all.nodes[0]->counter(), additions));
}

}  // namespace

TEST_CASE("streams deliver once, in order and unchanged, and never fall silent", "[protocols][streams]") {
  run(schedules{60'000}, [](virtual_net& net) {
    extent e;
    if (net.chance(0.02)) e = {.most_ranks = 16, .most_calls = 8};
    // With this many packets their numbers wrap.
    if (net.chance(0.01)) e = {.most_ranks = 3, .most_calls = 6, .most_messages = 250};
    run_job(net, e);
  });
}

namespace {

/// Keeps sent datagrams.
struct recorder final : reliable::packet_port {
  struct datagram {
    int peer;
    reliable::stream_kind what;
    bool solicited;
    std::vector<std::byte> body;
  };
  bool send(int peer, reliable::stream_kind what, std::span<const std::byte> body, bool solicited) override {
    if (full) return false;
    sent.push_back({peer, what, solicited, {body.begin(), body.end()}});
    return true;
  }
  void refuse() noexcept override {}

  std::vector<datagram> sent;
  bool full = false;
};

}  // namespace

TEST_CASE("a flush of a put asks soon, once, and wakes a rank that computes", "[protocols][streams]") {
  using reliable::stream_kind;
  recorder here;
  recorder there;
  stream_table mine{here, {.ranks = 2, .secret = 1, .least_timeout = 500us}};
  stream_table theirs{there, {.ranks = 2, .secret = 1, .least_timeout = 500us}};
  std::vector<std::byte> target(100);
  const std::vector<std::byte> source(100, std::byte{7});
  const auto key = theirs.exposed().add(target, true);
  auto now = clock::now();
  const chorale::call_id call{1, 2};
  for (int round = 0; round < 3; ++round) {
    here.sent.clear();
    there.sent.clear();
    // Round 1: the port has no room at first, and packets that have not left are not asked about.
    here.full = round == 1;
    reliable::write_request w{1, reinterpret_cast<std::uintptr_t>(target.data()), key, source};
    REQUIRE(mine.put(w, call, now));
    CHECK_FALSE(mine.is_flushed(1));
    for (unsigned look = 1; look < reliable::stream::patient_calls; ++look) mine.request_report_soon(1, now);
    CHECK(here.sent.size() == (here.full ? 0 : 1));
    mine.request_report_soon(1, now);
    here.full = false;
    mine.request_report_soon(1, now);
    mine.request_report_soon(1, now);
    REQUIRE(here.sent.size() == 2);
    CHECK(here.sent[0].what == stream_kind::packet);
    CHECK(here.sent[1].what == stream_kind::question);
    CHECK(here.sent[1].solicited);
    for (const auto& d : here.sent) theirs.on_datagram(0, static_cast<std::uint16_t>(d.what), d.body, now);
    CHECK(target == source);
    std::fill(target.begin(), target.end(), std::byte{});
    for (const auto& d : there.sent) mine.on_datagram(1, static_cast<std::uint16_t>(d.what), d.body, now);
    CHECK(mine.is_flushed(1));
    mine.end_report_requests(1);
  }
}

TEST_CASE("a rank that only polls now and then asks for what was lost", "[protocols][streams]") {
  using reliable::stream_kind;
  recorder here;
  recorder there;
  stream_table mine{here, {.ranks = 2, .secret = 1, .least_timeout = 500us}};
  stream_table theirs{there, {.ranks = 2, .secret = 1, .least_timeout = 500us}};
  const chorale::call_id call{1, 2};
  auto now = clock::now();
  const bool by_signal = GENERATE(false, true);
  const int attempts = GENERATE(1, 2);  // of each poll, a few microseconds apart
  const std::vector<std::byte> message(100, std::byte{7});
  if (by_signal)
    REQUIRE(mine.signal(1, call, now));
  else
    mine.send(1, call, message, now);
  REQUIRE(here.sent.size() == 1);
  here.sent.clear();  // it is lost

  std::span<const std::byte> arrived;
  const auto has_arrived = [&] {
    const auto found = by_signal ? theirs.signalled(0, call) : theirs.receive(0, call, arrived);
    return found.what == chorale::transport::presence::here;
  };
  bool is_over = false;
  for (int poll = 0; poll < 5 && !is_over; ++poll) {
    now += 600ms;
    for (int i = 0; i < attempts; ++i) REQUIRE(theirs.await(0, now += 2us));
    for (const auto& d : there.sent) mine.on_datagram(1, static_cast<std::uint16_t>(d.what), d.body, now);
    there.sent.clear();
    for (const auto& d : here.sent) theirs.on_datagram(0, static_cast<std::uint16_t>(d.what), d.body, now);
    here.sent.clear();
    is_over = has_arrived();
  }
  CAPTURE(by_signal, attempts);
  CHECK(is_over);
}
