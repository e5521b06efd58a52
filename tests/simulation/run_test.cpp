// SPDX-License-Identifier: Apache-2.0
// Running ranks in virtual time: the environment of bodies, and the end of runs.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/communicator.hpp>
#include <chorale/core/error.hpp>
#include <chorale/simulation/run.hpp>
#include <chorale/transport/rc.hpp>
#include <chorale/transport/rc_send_receive.hpp>
#include <chorale/transport/ud.hpp>

#include "../support/expect.hpp"
#include "../support/simulated.hpp"

namespace {

using namespace std::chrono_literals;
namespace sim = chorale::simulation;
using Catch::Contains;
using support::thrown_by;

TEST_CASE("Each rank knows its number and its host", "[run]") {
  std::vector<int> seen;
  const auto all = sim::run(6, support::test_machine(6), [&](sim::group& g) {
    CHECK(g.size() == 6);
    CHECK(g.rank() == static_cast<int>(seen.size()));
    CHECK(g.local_rank() == g.rank() % 4);
    CHECK_THAT(g.describe(), Contains("6 ranks in virtual time on tests"));
    seen.push_back(g.rank());
    const auto before = sim::now();
    sim::compute(5us);
    CHECK(sim::now() - before == 5us);
  });
  CHECK(seen.size() == 6);
  CHECK(all.elapsed == 5us);
}

TEST_CASE("Each rank gets the cards of all, in order and at once", "[run]") {
  sim::run(5, support::test_machine(5), [](sim::group& g) {
    for (int round = 0; round < 3; ++round) {
      sim::compute(g.rank() * 1us);
      const std::vector<std::byte> mine(static_cast<std::size_t>(g.rank() + round), std::byte(g.rank()));
      const auto cards = g.exchange(mine, {});
      REQUIRE(cards.size() == 5);
      for (int r = 0; r < 5; ++r)
        CHECK(cards[static_cast<std::size_t>(r)] ==
              std::vector<std::byte>(static_cast<std::size_t>(r + round), std::byte(r)));
      CHECK(sim::now() == sim::instant{(round + 1) * 4us});
    }
  });
}

TEST_CASE("An exchange fails if a rank has ended, or is late", "[run]") {
  CHECK_THAT(thrown_by([] {
               sim::run(3, support::test_machine(3), [](sim::group& g) {
                 if (g.rank() != 1) g.exchange({}, {});
               });
             }),
             Contains("rank 1 has ended"));
  CHECK_THAT(thrown_by([] {
               sim::run(3, support::test_machine(3), [](sim::group& g) {
                 if (g.rank() == 2) sim::compute(1s);
                 g.exchange({}, 10ms);
                 CHECK(false);
               });
             }),
             Contains("1 of 3 ranks did not come, rank 2"));
}

TEST_CASE("The first exception of a body comes out of run, and ends the others", "[run]") {
  int failed = 0;
  const auto text = thrown_by([&] {
    sim::run(4, support::test_machine(4), [&](sim::group& g) {
      chorale::communicator<chorale::transport::rc> comm{g, {}};
      if (g.rank() == 2) throw std::runtime_error{"rank 2 gives up"};
      try {
        comm.barrier();
      } catch (const chorale::error&) {
        ++failed;
        throw;
      }
    });
  });
  CHECK(text == "rank 2 gives up");
  CHECK(failed == 3);
}

TEMPLATE_TEST_CASE("The last rank that leaves sends its farewell to those that still wait for it", "[run]",
                   chorale::transport::rc, chorale::transport::ud) {
  for (const int ranks : {2, 5, 16}) {
    INFO(ranks << " ranks");
    sim::instant last{};
    const auto all = sim::run(ranks, support::test_machine(ranks), [&](sim::group& g) {
      chorale::communicator<TestType> comm{g, {}};
      comm.barrier();
      // By the time it leaves, all others have sent their messages.
      if (g.rank() == ranks - 1) sim::compute(3ms);
      last = std::max(last, sim::now());
    });
    CHECK(all.elapsed - last.time_since_epoch() < 1ms);
  }
}

/// The round-trip time of a value between two ranks.
template <class Transport>
sim::duration round_trip(sim::duration send, sim::duration receive) {
  auto machine = support::test_machine(8);
  machine.ranks_per_host = 1;
  machine.hosts = 2;
  machine.host.send = send;
  machine.host.receive = receive;
  sim::duration taken{};
  sim::run(2, machine, [&](sim::group& g) {
    chorale::communicator<Transport> comm{g, {}};
    comm.barrier();
    sim::compute(1ms);
    // Connections are set up before the measurement begins.
    comm.barrier();
    const auto begin = sim::now();
    int value = g.rank();
    comm.broadcast(value, chorale::root{0});
    comm.broadcast(value, chorale::root{1});
    if (g.rank() == 0) taken = sim::now() - begin;
  });
  return taken;
}

TEMPLATE_TEST_CASE("The library's work for a message takes the time of the machine's costs", "[run]",
                   chorale::transport::rc, chorale::transport::rc_send_receive, chorale::transport::ud) {
  const auto free = round_trip<TestType>({}, {});
  // Answers of a transport are messages, and may delay its next message.
  const auto dear = round_trip<TestType>(20us, {});
  CHECK(dear - free >= 40us);
  CHECK(dear - free < 85us);
  // A rank that polls memory takes nothing from a queue.
  const auto slow = round_trip<TestType>({}, 20us);
  if constexpr (std::is_same_v<TestType, chorale::transport::rc>) {
    CHECK(slow == free);
  } else {
    CHECK(slow - free >= 40us);
    CHECK(slow - free < 85us);
  }
}

TEST_CASE("Links report their load", "[run]") {
  constexpr std::size_t bytes = 1 << 20;
  auto machine = support::test_machine(8);
  machine.ranks_per_host = 1;
  machine.hosts = 2;
  const auto loads = sim::run(2, machine, [&](sim::group& g) {
                       chorale::communicator<chorale::transport::rc> comm{g, {}};
                       std::vector<std::byte> mine(bytes);
                       comm.broadcast(std::span{mine}, chorale::root{0});
                     }).links;
  REQUIRE(loads.size() == 4);
  for (const auto& one : loads) {
    INFO(one.name);
    const bool forward = one.name == "host 0 to the switch" || one.name == "the switch to host 1";
    CHECK((one.bytes > bytes) == forward);
    CHECK(one.messages > 0);
    CHECK((one.taken > 84us) == forward);  // at 12.5 GB/s
  }
}

TEST_CASE("A rank that waits for ever is named at the end of virtual time", "[run]") {
  sim::run_options options;
  options.longest = 50ms;
  const auto text = thrown_by([&] {
    sim::run(
        2, support::test_machine(2),
        [](sim::group& g) {
          for (; g.rank() == 0;) chorale::clock::give_way();
        },
        options);
  });
  CHECK_THAT(text, Contains("50000.000 us") && Contains("rank 0 polls") && !Contains("rank 1"));
}

TEST_CASE("Impossible runs are refused, with the reason", "[run]") {
  const auto machine = support::test_machine(4);
  const auto nothing = [](sim::group&) {};
  CHECK_THAT(thrown_by([&] { sim::run(0, machine, nothing); }), Contains("has room for 1 to 4"));
  CHECK_THAT(thrown_by([&] { sim::run(5, machine, nothing); }), Contains("5 ranks on machine 'tests'"));
  CHECK_THAT(thrown_by([&] { sim::run(1, machine, [&](sim::group&) { sim::run(1, machine, nothing); }); }),
             Contains("called by a rank of a simulation"));
  CHECK_THAT(thrown_by([&] { sim::run(1, machine, [&](sim::group&) { sim::compute(-1ns); }); }),
             Contains("a negative time"));
  CHECK_THAT(thrown_by([] { static_cast<void>(sim::now()); }), Contains("no rank of a simulation runs here"));
  CHECK_THAT(thrown_by([] { sim::compute(1ns); }), Contains("no rank of a simulation runs here"));
}

TEST_CASE("A run is the same each time, and after others", "[run]") {
  const auto history = [](std::uint64_t seed) {
    sim::run_options options;
    options.seed = seed;
    std::vector<std::string> times;
    const auto all = sim::run(
        9, support::test_machine(9),
        [&](sim::group& g) {
          chorale::communicator<chorale::transport::rc> comm{g, {}};
          for (int call = 0; call < 5; ++call) {
            sim::compute(g.rank() * 1us);
            const int sum = comm.allreduce(g.rank(), std::plus<>{});
            times.push_back(std::to_string(g.rank()) + ' ' + std::to_string(sum) + ' ' +
                            std::to_string(sim::now().time_since_epoch().count()));
          }
        },
        options);
    times.push_back(std::to_string(all.elapsed.count()) + ' ' + std::to_string(all.events));
    return times;
  };
  const auto first = history(1);
  CHECK(history(3).size() == first.size());
  CHECK(history(1) == first);
}

}  // namespace
