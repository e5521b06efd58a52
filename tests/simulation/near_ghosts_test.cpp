// SPDX-License-Identifier: Apache-2.0
// Ghosts of a host, which send from core to core: against times computed by hand.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/config.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/places.hpp>
#include <chorale/simulation/machine/machine.hpp>

#include "plain_machine.hpp"
#include "simulation/ghosts/memory.hpp"
#include "simulation/ghosts/transport.hpp"
#include "simulation/ghosts/world.hpp"

namespace {

using namespace chorale::simulation;
using namespace std::chrono_literals;
using chorale::task;
using simulation_test::first_call;
using simulation_test::plain;

/// Two ranks on each host. A request between them takes the posting core 20 ns; the other core sees it 30 ns
/// later. A byte takes 1 ns from the cache of the other core.
machine with_near(int hosts) {
  auto all = plain(hosts);
  all.ranks_per_host = 2;
  all.near = near_costs{20ns, 30ns, byte_cost::rate(1'000'000'000), 1000, byte_cost::rate(500'000'000)};
  return all;
}

TEST_CASE("Ranks of a host use its caches, and its adapter if the machine has nothing near", "[ghosts]") {
  const auto seen_at = [](const machine& on, int from, int to) {
    ghosts::world all{on, 4};
    all.run([=](ghosts::transport& net) -> task<> {
      if (net.rank() == from) co_await net.signal(to, first_call);
      if (net.rank() == to) co_await net.signalled(from, first_call);
    });
    return std::pair{all.now(to), all.messages().adapter_bytes()};
  };
  auto far = with_near(2);
  far.near.reset();
  for (const auto& [from, to] : {std::pair{0, 1}, {3, 2}}) {
    CHECK(seen_at(with_near(2), from, to) == std::pair{instant{20ns + 30ns}, std::uint64_t{0}});
    CHECK(seen_at(far, from, to).first > instant{800ns});
    CHECK(seen_at(far, from, to).second == 8);
  }
  CHECK(seen_at(with_near(2), 1, 2) == std::pair{instant{1010ns}, std::uint64_t{8}});
}

TEST_CASE("Who first reads the message of a neighbour fetches it from its cache", "[ghosts]") {
  for (const std::size_t bytes : {std::size_t{100}, std::size_t{900}}) {
    ghosts::world all{with_near(1), 2};
    all.run([bytes](ghosts::transport& net) -> task<> {
      std::vector<std::byte> data(bytes);
      if (net.rank() == 0) {
        co_await net.send(1, first_call, data);
      } else {
        const auto message = co_await net.receive(0, first_call);
        CHECK(std::ranges::equal(message.bytes(), data));
        chorale::copy_bytes(data.data(), message.bytes().data(), bytes);
        chorale::copy_bytes(data.data(), message.bytes().data(), bytes);
      }
    });
    // A core copies the payload, of whatever size, from where it is: there is no adapter that would need it
    // in registered memory.
    CHECK(all.now(0) == instant{20ns});
    CHECK(all.now(1) == instant{20ns + 30ns + std::chrono::nanoseconds{bytes}});
  }
}

TEST_CASE("A message that is passed on is fetched once", "[ghosts]") {
  ghosts::world all{with_near(2), 4};
  all.run([](ghosts::transport& net) -> task<> {
    const std::vector<std::byte> data(900);
    if (net.rank() == 0) co_await net.send(1, first_call, data);
    if (net.rank() != 1) co_return;
    const auto message = co_await net.receive(0, first_call);
    co_await net.send(0, first_call, message.bytes());
    co_await net.send(0, first_call, message.bytes());
  });
  CHECK(all.now(1) == instant{20ns + 30ns + 20ns + 900ns + 20ns});
}

TEST_CASE("Ghosts of several hosts have lanes, those of one host cores that copy", "[ghosts]") {
  struct found {
    bool lanes;
    bool cores;
    std::uint32_t blocks;
    bool operator==(const found&) const = default;
  };
  const auto on = [](const machine& where, int ranks) {
    ghosts::world all{where, ranks};
    found seen{};
    all.run([&](ghosts::transport& net) -> task<> {
      seen = {net.uses_lanes(), net.copies_by_core(), all.blocks()};
      co_return;
    });
    return seen;
  };
  const chorale::config usual;
  CHECK(on(with_near(2), 4) == found{true, false, usual.mailbox_blocks(true, 4)});
  CHECK(on(with_near(2), 2) == found{false, true, usual.mailbox_blocks(true, 2)});
  auto far = with_near(2);
  far.near.reset();
  CHECK(on(far, 4) == found{false, false, usual.least_blocks()});
  auto apart = with_near(4);
  apart.ranks_per_host = 1;
  CHECK(on(apart, 4) == found{false, false, usual.least_blocks()});
}

TEST_CASE("All cores of a host share its memory", "[ghosts]") {
  for (const std::size_t bytes : {std::size_t{999}, std::size_t{1000}}) {
    INFO(bytes << " bytes");
    ghosts::world all{with_near(2), 4};
    all.run([bytes](ghosts::transport& net) -> task<> {
      std::vector<std::byte> memory(bytes);
      const auto mine = net.expose(memory);
      auto there = mine.region();
      there.owner = net.rank() ^ 1;
      if (net.rank() != 3) co_await net.put(there, 0, mine, memory, first_call);
    });
    const auto alone = bytes < 1000 ? 999ns : 2000ns;
    CHECK(all.now(0) == instant{20ns + alone});
    // The memory has served rank 0 at 2,020 ns.
    CHECK(all.now(1) == instant{20ns + (bytes < 1000 ? 999ns : 4000ns)});
    CHECK(all.now(2) == instant{20ns + alone});
  }
}

TEST_CASE("A get of a neighbour's memory waits for its first line, and a put until it is seen", "[ghosts]") {
  ghosts::world all{with_near(1), 2};
  all.run([](ghosts::transport& net) -> task<> {
    std::vector<std::byte> memory(500);
    const auto mine = net.expose(memory);
    auto there = mine.region();
    there.owner = 1 - net.rank();
    if (net.rank() == 0) {
      co_await net.get(there, 0, mine, memory, first_call);
      CHECK(net.size() == 2);
    } else {
      co_await net.put_notified(there, 0, mine, memory, first_call);
      co_await net.flush(0, first_call);
    }
  });
  CHECK(all.now(0) == instant{20ns + 500ns + 30ns});
  CHECK(all.now(1) == instant{20ns + 500ns + 30ns});
  CHECK(all.messages().adapter_bytes() == 0);
}

TEST_CASE("A place is a host", "[ghosts]") {
  ghosts::world all{with_near(3), 5};
  CHECK(all.layout().count() == 3);
  CHECK(all.layout().of(3) == 1);
  CHECK(all.layout().members(2).size() == 1);
}

}  // namespace
