// SPDX-License-Identifier: Apache-2.0
// Algorithms over ghosts: against times computed by hand, and properties that hold for any times.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/algorithm/alltoall/pairwise.hpp>
#include <chorale/algorithm/barrier/dissemination.hpp>
#include <chorale/algorithm/barrier/pairwise_exchange.hpp>
#include <chorale/algorithm/broadcast/binomial.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/error.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/simulation/machine/machine.hpp>

#include "../support/seed.hpp"
#include "plain_machine.hpp"
#include "simulation/ghosts/memory.hpp"
#include "simulation/ghosts/shadow.hpp"
#include "simulation/ghosts/transport.hpp"
#include "simulation/ghosts/world.hpp"

namespace {

using namespace chorale::simulation;
using namespace std::chrono_literals;
using chorale::call_id;
using chorale::task;
using simulation_test::first_call;
using simulation_test::plain;

TEST_CASE("A signal is seen after the time of the machine's costs", "[ghosts]") {
  ghosts::world all{plain(2), 2};
  all.run([](ghosts::transport& net) -> task<> {
    if (net.rank() == 0)
      co_await net.signal(1, first_call);
    else
      co_await net.signalled(0, first_call);
  });
  CHECK(all.now(0) == instant{100ns});
  CHECK(all.now(1) == instant{1000ns + 10ns});  // 8 bytes, seen at the next poll
}

TEST_CASE("Messages of a sender wait for blocks, and are seen in their order", "[ghosts]") {
  chorale::config small;
  small.block_bytes = 80;
  small.blocks = 2;
  ghosts::world all{plain(2), 2, small};
  std::vector<std::byte> got;
  all.run([&got](ghosts::transport& net) -> task<> {
    for (int i = 0; i < 5; ++i) {
      const auto value = static_cast<std::byte>(i);
      if (net.rank() == 0) {
        co_await net.send(1, first_call, std::span{&value, 1});
      } else {
        const auto message = co_await net.receive(0, first_call);
        got.push_back(message.bytes()[0]);
      }
    }
  });
  CHECK(got == std::vector{std::byte{0}, std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}});
  // Two leave at once: 32 bytes with padding and trailer, the second 100 ns later. After each the receiver
  // sends a notification, which takes it 100 ns and is seen by the sender 908 ns later; so there are two more
  // rounds.
  const auto one = 1000ns + 32ns;
  const auto back = 1000ns + 8ns;
  CHECK(all.now(1) > instant{2 * (one + back) + one});
  CHECK(all.now(1) < instant{2 * (one + back) + one + 500ns});
}

TEST_CASE("Several messages that are kept at once keep their content until they are given back", "[ghosts]") {
  constexpr int rounds = 4;
  constexpr int at_once = 3;
  ghosts::world all{plain(2), 2};
  std::vector<int> got;
  all.run([&got](ghosts::transport& net) -> task<> {
    for (int round = 0; round < rounds; ++round) {
      std::vector<ghosts::arrival_of_ghost> held;
      for (int i = 0; i < at_once; ++i) {
        const auto value = static_cast<std::byte>(1 + round * at_once + i);
        if (net.rank() == 0)
          co_await net.send(1, first_call, std::span{&value, 1});
        else
          held.push_back(co_await net.receive(0, first_call));
      }
      for (const auto& message : held) got.push_back(std::to_integer<int>(message.bytes()[0]));
      // In the order in which they were sent, as required.
      for (auto& message : held) message.release();
      // Both ways, so that freed blocks are used again.
      if (net.rank() == 0)
        co_await net.receive(1, first_call);
      else
        co_await net.send(0, first_call, {});
    }
  });
  std::vector<int> sent(rounds * at_once);
  std::iota(sent.begin(), sent.end(), 1);
  CHECK(got == sent);
}

TEST_CASE("Scratch memory of a rank does not overlap, and all ranks share it", "[ghosts]") {
  static constexpr std::size_t most = std::size_t{128} << 30;
  ghosts::world all{plain(2), 2};
  std::vector<const std::byte*> first(2);
  all.run([&first](ghosts::transport& net) -> task<> {
    const auto a = net.scratch(most);
    first[static_cast<std::size_t>(net.rank())] = a.memory().data();
    CHECK(a.memory().size() == most);
    const std::byte* again = nullptr;
    {
      const auto b = net.scratch(100);
      again = b.memory().data();
      CHECK(again >= a.memory().data() + most);
      b.memory()[99] = std::byte{1};
    }
    // The lowest free part, even if a scratch was moved.
    auto c = net.scratch(7);
    const auto moved = std::move(c);
    CHECK(moved.memory().data() == again);
    std::vector<ghosts::scratch_ghost> others;
    for (int i = 2; i < ghosts::shadow::parts; ++i) others.push_back(net.scratch(1));
    CHECK_THROWS_AS(net.scratch(1), chorale::error);
    others.pop_back();
    CHECK_THROWS_AS(net.scratch(most + 1), chorale::error);
    CHECK_NOTHROW(net.scratch(0));
    co_return;
  });
  CHECK(first[0] == first[1]);
}

TEST_CASE("A put is flushed when it has been acknowledged", "[ghosts]") {
  auto on = plain(2);
  on.adapter.receiving.acknowledge = 200ns;
  on.adapter.receiving.complete = 70ns;
  on.adapter.posting.completion = 5ns;
  ghosts::world all{on, 2};
  all.run([](ghosts::transport& net) -> task<> {
    std::vector<std::byte> memory(1000);
    const auto mine = net.expose(memory);
    auto there = mine.region();
    there.owner = 1 - net.rank();
    if (net.rank() == 0) {
      co_await net.put_notified(there, 0, mine, memory, first_call);
      co_await net.flush(1, first_call);
    } else {
      co_await net.notified(0, first_call);
    }
  });
  // 100 ns to post, 300 to start, 130 and 1,000 in the network; 200, 130, 420 and 70 for the acknowledgement;
  // 50 to see the completion, 5 to take it.
  CHECK(all.now(0) == instant{100ns + 300ns + 1130ns + 200ns + 130ns + 420ns + 70ns + 50ns + 5ns});
  CHECK(all.now(1) == instant{100ns + 300ns + 1130ns + 420ns + 70ns + 50ns + 5ns});
}

TEST_CASE("No message overtakes a long one, however many wait behind it", "[ghosts]") {
  auto on = plain(2);
  on.adapter.burst = 10'000;
  ghosts::world all{on, 2};
  constexpr int rounds = 3;
  constexpr std::size_t length = 100'000;
  std::vector<instant> seen;
  all.run([&](ghosts::transport& net) -> task<> {
    std::vector<std::byte> memory(length);
    const auto mine = net.expose(memory);
    auto there = mine.region();
    there.owner = 1 - net.rank();
    for (int i = 0; i < rounds; ++i) {
      if (net.rank() == 0) {
        co_await net.put(there, 0, mine, memory, first_call);
        co_await net.send(1, first_call, {});
      } else {
        const auto message = co_await net.receive(0, first_call);
        seen.push_back(all.now(1));
      }
    }
  });
  // A byte takes a nanosecond: each message arrives late by the time of the bytes put before it, and by at
  // most 3 us for headers, processors, adapters and polls.
  REQUIRE(seen.size() == rounds);
  for (int i = 0; i < rounds; ++i) {
    const auto passed = instant{(i + 1) * 100us};
    INFO("message " << i << " is seen after " << seen[static_cast<std::size_t>(i)].time_since_epoch().count()
                    << " ps");
    CHECK(seen[static_cast<std::size_t>(i)] > passed);
    CHECK(seen[static_cast<std::size_t>(i)] < passed + 3us);
  }
}

TEST_CASE("A get takes a request and its answer", "[ghosts]") {
  auto on = plain(2);
  on.adapter.receiving.read = 500ns;
  ghosts::world all{on, 2};
  all.run([](ghosts::transport& net) -> task<> {
    std::vector<std::byte> memory(1000);
    const auto mine = net.expose(memory);
    auto there = mine.region();
    there.owner = 1;
    if (net.rank() == 0) co_await net.get(there, 0, mine, memory, first_call);
  });
  CHECK(all.now(0) == instant{100ns + 300ns + 130ns + 500ns + 1130ns + 420ns + 50ns});
}

TEST_CASE("A dissemination barrier takes the time of its rounds", "[ghosts]") {
  for (const auto& [ranks, rounds] : {std::pair{2, 1}, {8, 3}, {9, 4}, {1000, 10}}) {
    ghosts::world all{plain(ranks), ranks};
    all.run([](ghosts::transport& net) { return chorale::barrier::dissemination::run(net, first_call); });
    CHECK(all.end() == instant{rounds * (1000ns + 10ns)});
  }
}

TEST_CASE("No rank leaves a barrier before all have entered", "[ghosts]") {
  std::mt19937_64 draw{support::seed()};
  for (const int ranks : {2, 7, 16, 33}) {
    ghosts::world all{plain(ranks), ranks};
    for (std::uint64_t number = 1; number < 20; ++number) {
      instant last{};
      for (int rank = 0; rank < ranks; ++rank) {
        all.charge(rank, duration{static_cast<std::int64_t>(draw() % 5'000'000)});
        last = std::max(last, all.now(rank));
      }
      const call_id now{number, 7, chorale::operation::barrier};
      all.run([now](ghosts::transport& net) { return chorale::barrier::pairwise_exchange::run(net, now); });
      for (int rank = 0; rank < ranks; ++rank) REQUIRE(all.now(rank) >= last);
    }
  }
}

/// The time when all ranks have ended.
template <class Program>
instant time_of(int ranks, const Program& program) {
  ghosts::world all{read_machine("infinihost3-ddr-64"), ranks};
  all.run(program);
  return all.end();
}

TEST_CASE("Algorithms that move blocks end, at the same time in two runs", "[ghosts]") {
  for (const int ranks : {1, 2, 5, 16, 64})
    for (const std::size_t bytes : {0U, 8U, 300U, 40'000U}) {
      const auto count = static_cast<std::size_t>(ranks);
      const auto broadcast = [bytes](ghosts::transport& net) -> task<> {
        std::vector<std::byte> data(bytes);
        co_await chorale::broadcast::binomial::run(net, first_call, data, 0);
      };
      const auto alltoall = [bytes, count](ghosts::transport& net) -> task<> {
        std::vector<std::byte> out(bytes * count);
        std::vector<std::byte> in(bytes * count);
        const auto layout = chorale::block_layout::even(net.size(), bytes);
        co_await chorale::alltoall::pairwise::run(net, first_call, {out, layout}, {in, layout});
      };
      INFO(ranks << " ranks, " << bytes << " bytes");
      const auto once = time_of(ranks, broadcast);
      CHECK(once == time_of(ranks, broadcast));
      const auto all = time_of(ranks, alltoall);
      CHECK(all == time_of(ranks, alltoall));
      CHECK((ranks == 1 || once > instant{}));
      if (ranks > 2 && bytes > 0) CHECK(all > once);
    }
}

TEST_CASE("A rank that waits for ever is named", "[ghosts]") {
  ghosts::world all{plain(3), 3};
  CHECK_THROWS_WITH(all.run([](ghosts::transport& net) -> task<> {
    if (net.rank() == 2) co_await net.signalled(1, first_call);
  }),
                    Catch::Matchers::Contains(
                        "1 of 3 ranks wait for messages that no rank sends; the first is rank 2, which "
                        "waits for a signal of rank 1"));
}

TEST_CASE("Copying and combining take the time of the host's costs", "[ghosts]") {
  auto on = plain(1);
  on.host.call = 3ns;
  on.host.copy = work_cost{{{0, 7ns, chorale::simulation::byte_cost::rate(1'000'000'000)}}};
  on.host.combine = work_cost{{{0, 9ns, chorale::simulation::byte_cost::rate(500'000'000)}}};
  ghosts::world all{on, 1};
  all.run([](ghosts::transport&) -> task<> {
    std::vector<std::byte> a(100);
    std::vector<std::byte> b(100);
    chorale::copy_bytes(a.data(), b.data(), a.size());
    chorale::reduction::of<std::uint32_t>(std::plus<>{}).combine_left(a, b);
    co_return;
  });
  CHECK(all.end() == instant{3ns + 7ns + 100ns + 9ns + 200ns});
}

TEST_CASE("One rank's exception is reported, not the waits of others for it", "[ghosts]") {
  ghosts::world all{plain(2), 2};
  CHECK_THROWS_WITH(all.run([](ghosts::transport& net) -> task<> {
    if (net.rank() == 1) throw std::runtime_error{"rank 1 has failed"};
    co_await net.signalled(1, first_call);
  }),
                    Catch::Matchers::Equals("rank 1 has failed"));
}

TEST_CASE("A machine too small for the ranks is refused", "[ghosts]") {
  CHECK_THROWS_WITH((ghosts::world{plain(3), 4}), Catch::Matchers::Contains("has room for 1 to 3"));
}

}  // namespace
