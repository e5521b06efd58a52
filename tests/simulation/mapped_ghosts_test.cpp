// SPDX-License-Identifier: Apache-2.0
// Memory that ghosts of a host map: against times computed by hand, and which core has which line.
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/algorithm/allreduce/last_arriver.hpp>
#include <chorale/algorithm/barrier/last_arriver.hpp>
#include <chorale/algorithm/barrier/multi_object.hpp>
#include <chorale/algorithm/broadcast/last_arriver.hpp>
#include <chorale/core/call.hpp>
#include <chorale/core/error.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/simulation/machine/machine.hpp>

#include "plain_machine.hpp"
#include "simulation/ghosts/mapped_memory.hpp"
#include "simulation/ghosts/transport.hpp"
#include "simulation/ghosts/world.hpp"

namespace {

using namespace chorale::simulation;
using namespace std::chrono_literals;
using chorale::call_id;
using chorale::operation;
using chorale::task;
using simulation_test::plain;

constexpr int ranks_per_host = 4;

/// Four ranks on each host. A line takes 10 ns from core to core; a core that polls it sees a store after
/// 30 ns, and looks every 10 ns. A byte takes 1 ns from the cache of another core.
machine with_mapping(int hosts) {
  auto all = plain(hosts);
  all.ranks_per_host = ranks_per_host;
  all.near =
      near_costs{20ns, 30ns, byte_cost::rate(1'000'000'000), 1 << 20, byte_cost::rate(500'000'000), 10ns};
  return all;
}

/// The time of the last of some calls, all ranks of which begin together.
template <class Program>
duration time_of_last(ghosts::world& all, const Program& program) {
  duration last{};
  for (std::uint64_t number = 1; number <= 3; ++number) {
    all.gather();
    const auto begin = all.end();
    const call_id now{number, 7, operation::barrier};
    all.run([&](ghosts::transport& net) { return program(net, now); });
    last = all.end() - begin;
  }
  return last;
}

TEST_CASE("Ranks that arrive together get the counter one after the other", "[ghosts]") {
  for (const int ranks : {2, 3, 4}) {
    ghosts::world all{with_mapping(1), ranks};
    const auto time = time_of_last(all, [](ghosts::transport& net, call_id now) {
      return chorale::barrier::last_arriver::run(net, now);
    });
    CHECK(time == ranks * 10ns + 30ns);
  }
}

TEST_CASE("The last arriver is the last in virtual time, wherever it is in the program", "[ghosts]") {
  ghosts::world all{with_mapping(1), ranks_per_host};
  const auto time = time_of_last(all, [&](ghosts::transport& net, call_id now) {
    if (net.rank() == 1) all.charge(1, 5000ns);
    return chorale::barrier::last_arriver::run(net, now);
  });
  CHECK(time == 5000ns + 10ns + 30ns);
  for (int rank = 0; rank < ranks_per_host; ++rank)
    CHECK(all.now(rank) == all.end() - (rank == 1 ? 30ns : 0ns));
}

TEST_CASE("What another core has written to mapped memory is fetched by each reader", "[ghosts]") {
  std::array<std::byte, 500> data{};
  const auto time_of = [&](std::size_t bytes) {
    ghosts::world all{with_mapping(1), ranks_per_host};
    return time_of_last(all, [&, bytes](ghosts::transport& net, call_id now) {
      return chorale::broadcast::last_arriver::run(net, now, std::span{data}.first(bytes), 0);
    });
  };
  // Four additions, the last by the root, which has overwritten what the others had read; then each of these
  // waits for its line, and fetches eight bytes of it.
  CHECK(time_of(8) == 4 * 10ns + 30ns + 10ns + 8ns);
  // The root overwrites lines that the others have read, and arrives last.
  CHECK(time_of(500) == 500ns + 10ns + 30ns + 10ns + 500ns);
}

TEST_CASE("The last arriver waits for the first operand of another rank only", "[ghosts]") {
  const auto time_of = [](int ranks) {
    ghosts::world all{with_mapping(1), ranks};
    const auto add = chorale::reduction::of<std::uint64_t>(std::plus<>{});
    std::vector<std::uint64_t> values(static_cast<std::size_t>(ranks));
    return time_of_last(all, [&](ghosts::transport& net, call_id now) {
      const auto mine =
          std::as_writable_bytes(std::span{values}.subspan(static_cast<std::size_t>(net.rank()), 1));
      return chorale::allreduce::last_arriver::run(net, now, mine, mine, add);
    });
  };
  // The last arriver, which is rank 0 of two and rank 2 of four, overwrites the result and combines; the
  // others look every 10 ns.
  CHECK(time_of(2) == 2 * 10ns + 8ns + (10ns + 8ns) + 30ns + 4ns);
  CHECK(time_of(4) == 4 * 10ns + (10ns + 8ns) + 8ns + 8ns + 30ns + 6ns);
}

TEST_CASE("Places map memory where there is a device near, and each of its own", "[ghosts]") {
  const auto near = with_mapping(2);
  auto far = near;
  far.near.reset();
  for (const auto& on : {near, far}) {
    const bool maps = on.near.has_value();
    for (const int ranks : {4, 5, 8}) {
      ghosts::world all{on, ranks};
      all.run([=](ghosts::transport& net) -> task<> {
        CHECK(net.maps_memory() == (maps && ranks == 4));
        CHECK(net.maps_within_place() == maps);
        co_return;
      });
    }
  }
  // Two hosts: a signal of 1,010 ns, and in the second use of the slots all others have arrived before.
  ghosts::world all{near, 8};
  using barrier = chorale::barrier::multi_object<chorale::barrier::last_arriver>;
  const auto time =
      time_of_last(all, [](ghosts::transport& net, call_id now) { return barrier::run(net, now); });
  CHECK(time == (4 * 10ns + 30ns) + 1010ns + (10ns + 30ns));
}

TEST_CASE("A rank that makes another call is named by the last arriver", "[ghosts]") {
  ghosts::world all{with_mapping(1), 3};
  const auto run = [&](std::uint32_t odd) {
    all.run([=](ghosts::transport& net) {
      return chorale::barrier::last_arriver::run(net, {1, net.rank() == 1 ? odd : 7, operation::barrier});
    });
  };
  run(7);
  CHECK_THROWS_WITH(run(8), Catch::Matchers::Contains("ghosts: rank 2 is in call 1, and rank 0 in call 1") ||
                                Catch::Matchers::Contains("ghosts: rank 2 is in call 1, and rank 1"));
}

TEST_CASE("A rank that waits for mapped memory for ever is named", "[ghosts]") {
  ghosts::world all{with_mapping(1), 3};
  const call_id first{1, 7, operation::barrier};
  all.run([=](ghosts::transport& net) { return chorale::barrier::last_arriver::run(net, first); });
  CHECK_THROWS_WITH(all.run([=](ghosts::transport& net) -> task<> {
    if (net.rank() != 1) co_await chorale::barrier::last_arriver::run(net, {2, 7, operation::barrier});
  }),
                    Catch::Matchers::Contains("2 of 3 ranks wait") &&
                        Catch::Matchers::Contains("rank 0, which waits for a word in mapped memory"));
}

TEST_CASE("Mapped memory knows who has written a line last, and whether others have read it", "[ghosts]") {
  ghosts::mapped_memory all;
  const auto memory = all.make(1, 300);
  CHECK(memory.size() == 300);
  CHECK(all.make(1, 300).data() == memory.data());
  CHECK(all.find(1).data() == memory.data());
  CHECK(all.find(2).empty());
  const auto other = all.make(2, 1);
  CHECK(other.data() >= memory.data() + memory.size());
  CHECK(all.has(other.data()));
  CHECK_FALSE(all.has(&all));

  auto* const first = memory.data();
  CHECK(all.read(0, first, 128, nullptr) == 0);  // nobody has written it
  CHECK(all.write(0, first, 128) == 0);
  CHECK(all.write(0, first, 128) == 0);
  CHECK(all.read(0, first, 128, nullptr) == 0);
  CHECK(all.read(1, first, 100, nullptr) == 100);
  CHECK(all.read(1, first, 128, first) == 64);  // it has just seen the first line
  CHECK(all.write(0, first, 128) == 128);       // rank 1 has copies
  CHECK(all.write(1, first + 100, 8) == 8);
  CHECK(all.read(0, first, 128, nullptr) == 64);
}

}  // namespace
