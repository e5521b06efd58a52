// SPDX-License-Identifier: Apache-2.0
// Faults of simulations: random ones, and planned ones.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/algorithm/broadcast/flat.hpp>
#include <chorale/algorithm/gather/flat.hpp>
#include <chorale/communicator.hpp>
#include <chorale/core/error.hpp>
#include <chorale/simulation/run.hpp>
#include <chorale/transport/hybrid.hpp>
#include <chorale/transport/rc.hpp>
#include <chorale/transport/ud.hpp>
#include <chorale/transport/ud_rdma.hpp>
#include <chorale/window.hpp>

#include "../support/simulated.hpp"
#include "../support/twins.hpp"
#include "simulation/device/disturbance.hpp"

namespace {

using namespace std::chrono_literals;
namespace sim = chorale::simulation;
using Catch::Contains;
using Catch::StartsWith;
using sim::device::disturbance;

TEST_CASE("Random faults hit the given share of datagrams, the same ones in each run", "[faults]") {
  sim::faults wrong;
  wrong.lost = 100'000;
  wrong.repeated = 50'000;
  wrong.delayed = 200'000;
  wrong.longest_delay = 10us;
  disturbance chance{wrong, 7};
  disturbance same{wrong, 7};
  constexpr int all = 100'000;
  int lost = 0;
  int twice = 0;
  int late = 0;
  for (int i = 0; i < all; ++i) {
    const auto copies = chance.datagram();
    const auto others = same.datagram();
    REQUIRE(copies.count == others.count);
    REQUIRE(copies.late == others.late);
    lost += copies.count == 0 ? 1 : 0;
    twice += copies.count == 2 ? 1 : 0;
    for (const auto delay : copies.all()) {
      REQUIRE(delay >= sim::duration::zero());
      REQUIRE(delay <= 10us);
      late += delay != sim::duration::zero() ? 1 : 0;
    }
  }
  CHECK(std::abs(lost - all / 10) < all / 100);
  CHECK(std::abs(twice - all * 9 / 200) < all / 200);
  CHECK(std::abs(late - all * 945 / 5000) < all / 100);
}

TEST_CASE("Without faults nothing is late", "[faults]") {
  disturbance none;
  for (int i = 0; i < 1000; ++i) {
    const auto copies = none.datagram();
    CHECK((copies.count == 1 && copies.late[0] == sim::duration::zero()));
    CHECK(none.message() == sim::duration::zero());
  }
}

/// What each rank of a run has seen: the number of its barriers, and the error that ended them.
struct seen {
  int barriers = 0;
  std::string text;
  std::vector<int> ranks;
};

template <class Transport>
std::vector<seen> barriers(int ranks, int how_many, const sim::run_options& options) {
  std::vector<seen> all(static_cast<std::size_t>(ranks));
  chorale::config settings;
  settings.silence = 1s;
  sim::run(
      ranks, support::test_machine(ranks),
      [&](sim::group& g) {
        seen& mine = all[static_cast<std::size_t>(g.rank())];
        try {
          chorale::communicator<Transport> comm{g, settings};
          for (; mine.barriers < how_many; ++mine.barriers) {
            comm.barrier();
            sim::compute(1us);
          }
        } catch (const chorale::error& e) {
          mine.text = e.what();
          mine.ranks = e.ranks();
        }
      },
      options);
  return all;
}

TEMPLATE_TEST_CASE("A rank that dies does nothing more, and the others name it", "[faults]",
                   chorale::transport::rc, chorale::transport::ud) {
  for (const bool hidden : {false, true}) {
    INFO("processes are hidden: " << hidden);
    sim::run_options options;
    options.wrong.deaths = {{.rank = 2, .when = sim::instant{1ms}}};
    options.wrong.hidden_processes = hidden;
    // Memory of dead ranks is never freed: a child process hides it from leak checkers.
    const auto fates = support::finish(support::start_twin([&] {
      std::string text;
      for (const seen& one : barriers<TestType>(6, 10'000, options)) {
        text += one.barriers < 10'000 ? "lost" : "made all";
        for (const int lost : one.ranks) text += ' ' + std::to_string(lost);
        text += one.text.empty() ? " silently\n" : "\n";
      }
      return text;
    }));
    CHECK(fates == "lost 2\nlost 2\nlost silently\nlost 2\nlost 2\nlost 2\n");
  }
}

TEST_CASE("When many ranks die at once with full mailboxes, the others learn it", "[faults]") {
  constexpr int dead = 32;
  constexpr int ranks = dead + 2;
  chorale::config settings;
  // Each dead rank has this many messages under way, few of which are signalled. Without an answer each ends
  // with a completion.
  settings.blocks = 96;
  sim::run_options options;
  options.wrong.hidden_processes = true;
  for (int r = 1; r <= dead; ++r) options.wrong.deaths.push_back({.rank = r, .when = sim::instant{1s}});
  // Memory of dead ranks is never freed: a child process hides it from leak checkers.
  const auto fates = support::finish(support::start_twin([&] {
    std::vector<std::string> all(ranks);
    sim::run(
        ranks, support::test_machine(ranks),
        [&](sim::group& g) {
          try {
            chorale::communicator<chorale::transport::rc, chorale::broadcast::flat> comm{g, settings};
            int value = 0;
            comm.broadcast(value, chorale::root{0});
            sim::compute(2s);
            for (std::uint32_t i = 0; i < *settings.blocks; ++i) comm.broadcast(value, chorale::root{0});
            // No completion is polled before all have arrived.
            sim::compute(60s);
            comm.barrier();
          } catch (const chorale::error& e) {
            const bool right = e.code() == chorale::errc::peer_lost && e.ranks().size() == 1 &&
                               e.ranks().front() > 0 && e.ranks().front() <= dead;
            all[static_cast<std::size_t>(g.rank())] = (right ? "lost: " : "wrong: ") + std::string{e.what()};
          }
        },
        options);
    return all.front() + '\n' + all.back();
  }));
  CHECK_THAT(fates, StartsWith("lost: rank ") && Contains("\nlost: rank "));
  CHECK_THAT(fates, Contains("retries exceeded") && !Contains("overran"));
}

TEMPLATE_TEST_CASE("A rank that is stopped for a while goes on", "[faults]", chorale::transport::rc,
                   chorale::transport::ud) {
  sim::run_options options;
  options.wrong.stops = {{.rank = 1, .when = sim::instant{300us}, .time = 400ms}};
  sim::duration longest{};
  sim::run(
      3, support::test_machine(3),
      [&](sim::group& g) {
        chorale::communicator<TestType> comm{g, {}};
        for (int i = 0; i < 1000; ++i) {
          const auto before = sim::now();
          comm.barrier();
          longest = std::max(longest, sim::now() - before);
        }
      },
      options);
  CHECK(longest > 399ms);
  CHECK(longest < 500ms);
}

TEMPLATE_TEST_CASE("When an adapter fails, its ranks and their peers fail", "[faults]",
                   chorale::transport::rc, chorale::transport::ud) {
  sim::run_options options;
  options.wrong.adapter_failures = {{.host = 1, .when = sim::instant{1ms}}};
  const auto all = barriers<TestType>(8, 100'000, options);  // ranks 4 to 7 are on that host
  for (int r = 0; r < 8; ++r) {
    const seen& one = all[static_cast<std::size_t>(r)];
    CHECK_FALSE(one.text.empty());
    if (r < 4) CHECK(std::ranges::any_of(one.ranks, [](int lost) { return lost >= 4; }));
  }
}

TEMPLATE_TEST_CASE("Late, lost and repeated messages change times, not results", "[faults]",
                   chorale::transport::rc, chorale::transport::ud) {
  const auto time_with = [](const sim::faults& wrong) {
    sim::run_options options;
    options.wrong = wrong;
    return sim::run(
               4, support::test_machine(4),
               [&](sim::group& g) {
                 chorale::communicator<TestType> comm{g, {}};
                 for (int i = 0; i < 50; ++i) CHECK(comm.allreduce(g.rank() + i, std::plus<>{}) == 6 + 4 * i);
               },
               options)
        .elapsed;
  };
  sim::faults wrong;
  wrong.lost = wrong.repeated = wrong.delayed = wrong.held_up = 100'000;
  CHECK(time_with(wrong) > time_with({}));
}

TEST_CASE("Impossible faults are refused, with the reason", "[faults]") {
  const auto thrown_by = [](const sim::faults& wrong) -> std::string {
    sim::run_options options;
    options.wrong = wrong;
    try {
      sim::run(
          4, support::test_machine(4), [](sim::group&) {}, options);
    } catch (const chorale::error& e) {
      return e.what();
    }
    return "nothing";
  };
  sim::faults wrong;
  wrong.deaths = {{.rank = 4, .when = {}}};
  CHECK_THAT(thrown_by(wrong), Contains("rank 4 is to fail, and there are 4"));
  wrong = {};
  wrong.adapter_failures = {{.host = 1, .when = {}}};
  CHECK_THAT(thrown_by(wrong), Contains("the adapter of host 1 is to fail, and there are 1"));
  wrong = {};
  wrong.stops = {{.rank = 0, .when = sim::instant{-1ns}, .time = 1ns}};
  CHECK_THAT(thrown_by(wrong), Contains("before it is there"));
  wrong = {};
  wrong.lost = 2'000'000;
  CHECK_THAT(thrown_by(wrong), Contains("2000000 in a million"));
}

TEMPLATE_TEST_CASE("Without service threads, ranks end communicators in any order", "[faults]",
                   chorale::transport::rc, chorale::transport::ud, chorale::transport::ud_rdma,
                   chorale::transport::hybrid<2>) {
  const bool one_waits = GENERATE(false, true);
  const int ranks = GENERATE(2, 4);
  chorale::config c;
  c.service = chorale::service_policy::off;
  c.deadline = 30s;
  const auto all = sim::run(ranks, support::test_machine(ranks), [&](sim::group& g) {
    chorale::communicator<TestType> comm{g, c};
    std::optional a{comm.duplicate()};
    std::optional b{comm.duplicate()};
    std::vector<int> values(100, g.rank());
    a->broadcast(std::span{values}, chorale::root{0});
    b->broadcast(std::span{values}, chorale::root{1});
    if (one_waits) {
      // Rank 0 stays in `a` for answers that the others give only from inside another communicator.
      if (g.rank() == 0) a.reset();
      comm.barrier();
      a.reset();
      b.reset();
    } else if (g.rank() == 0) {
      a.reset();
      b.reset();
    } else {
      b.reset();
      a.reset();
    }
    comm.barrier();
  });
  CHECK(all.elapsed < c.deadline);
}

TEMPLATE_TEST_CASE("Without service threads, a rank that polls its own memory sees what others do to it",
                   "[faults]", chorale::transport::ud_rdma, chorale::transport::hybrid<2>) {
  chorale::config c;
  c.service = chorale::service_policy::off;
  c.deadline = 30s;
  sim::run(2, support::test_machine(2), [&](sim::group& g) {
    chorale::communicator<TestType> comm{g, c};
    chorale::window<long, decltype(comm)> cells{comm, 2};
    if (g.rank() == 1) {
      cells.put(0, 0, 1L);
      cells.flush(0);
      CHECK(cells.compare_and_swap(0, 1, 0L, 7L) == 0);
      return;
    }
    const auto await = [](auto&& is_there) {
      for (int looks = 0; !is_there(); ++looks) {
        if (looks == 10'000) throw std::runtime_error("looked in vain");
        chorale::clock::sleep_for(10us);
      }
    };
    await([&] { return cells.get(0, 0) == 1; });
    await([&] { return cells.fetch_and_op(0, 1, 0L, chorale::sum) == 7; });
  });
}

TEST_CASE("If one rank registers memory for each message, all ranks copy up to longer ones", "[faults]") {
  for (const bool keeps : {true, false}) {
    std::uint64_t registered = 0;
    sim::run(3, support::test_machine(3), [&](sim::group& g) {
      chorale::config c;
      if (!keeps && g.rank() == 1) c.registration = chorale::registration_policy::per_operation;
      chorale::communicator<chorale::transport::rc, chorale::broadcast::flat> comm{g, c};
      CHECK(comm.transport().zero_copy_bytes() ==
            (keeps ? chorale::config::usual_zero_copy_bytes : std::size_t{255} * 1024));
      // In bytes between four times either threshold: where these broadcasts change to zero copy.
      std::vector<int> values(150'000, g.rank());
      comm.broadcast(std::span{values}, chorale::root{0});
      CHECK(std::ranges::all_of(values, [](int value) { return value == 0; }));
      registered += comm.transport().registrations().misses;
    });
    CHECK((registered != 0) == keeps);
  }
}

TEST_CASE("A rank whose farewell only one other has heard is not taken for dead", "[faults]") {
  constexpr int ranks = 12;
  constexpr int leaver = 1;
  constexpr int hears = 10;
  constexpr int late = 11;
  // The root acknowledges what the leaver has sent, and a few microseconds later is deaf.
  const auto from = GENERATE(range(0, 20)) * 1us;
  CAPTURE(from.count());
  auto one_host = support::test_machine(ranks);
  one_host.ranks_per_host = ranks;
  one_host.host.cores = ranks;
  sim::run_options options;
  for (int r = 0; r < ranks; ++r)
    if (r != leaver && r != hears)
      options.wrong.deafnesses.push_back({r, sim::instant{r == 0 ? 150ms + from : 100ms}, 300ms});
  int arrived = 0;
  sim::run(
      ranks, one_host,
      [&](sim::group& g) {
        chorale::communicator<chorale::transport::ud, chorale::gather::flat> comm{g, {}};
        if (comm.rank() == late) sim::compute(2s);
        std::vector<int> all(comm.rank() == 0 ? ranks : 0);
        comm.gather(comm.rank(), all, chorale::root{0});
        for (int r = 0; r < static_cast<int>(all.size()); ++r)
          arrived += all[static_cast<std::size_t>(r)] == r;
        // The others stay to be asked.
        sim::compute(comm.rank() == leaver ? 150ms : 3s);
      },
      options);
  CHECK(arrived == ranks);
}

TEMPLATE_TEST_CASE("A rank that is kept from leaving for long reports it", "[faults]", chorale::transport::ud,
                   chorale::transport::hybrid<2>) {
  std::vector<chorale::stall_report> reports;
  chorale::config c;
  c.service = chorale::service_policy::off;
  c.stall = 1s;
  c.on_stall = [&](const chorale::stall_report& one) { reports.push_back(one); };
  sim::run(2, support::test_machine(2), [&](sim::group& g) {
    chorale::communicator<TestType> comm{g, c};
    int value = g.rank() == 0 ? 4711 : 0;
    if (g.rank() == 1) sim::compute(5s);
    comm.broadcast(value, chorale::root{0});
    CHECK(value == 4711);
  });
  // After 1 s and 3 s.
  REQUIRE(reports.size() == 2);
  for (const auto& one : reports) {
    CHECK(one.rank == 0);
    CHECK(one.waits_for == 1);
    CHECK_THAT(one.call, Contains("the end of its communicator"));
    CHECK_THAT(one.text, Contains("has waited") && Contains("rank 1"));
  }
}

}  // namespace
