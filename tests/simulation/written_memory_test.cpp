// SPDX-License-Identifier: Apache-2.0
// Copies of bytes that an adapter wrote: which bytes count, and their costs.
#include "simulation/written_memory.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/communicator.hpp>
#include <chorale/core/copy_bytes.hpp>
#include <chorale/core/reduction.hpp>
#include <chorale/simulation/run.hpp>
#include <chorale/transport/rc.hpp>

#include "../support/in_call.hpp"
#include "../support/seed.hpp"
#include "../support/simulated.hpp"

using namespace chorale::simulation;
using namespace std::chrono_literals;

namespace {

work_cost costs(duration call, std::int64_t rate) {
  return work_cost{{{0, call, byte_cost::rate(rate)}}};
}

}  // namespace

TEST_CASE("Which core last touched a byte is known as in a table of bytes", "[written]") {
  constexpr std::size_t room = 64;
  constexpr int nobody = -2;
  static std::array<std::byte, room> memory{};
  INFO("CHORALE_TEST_SEED=" << support::seed());
  std::mt19937_64 random{support::seed()};
  for (int round = 0; round < 400; ++round) {
    const bool by_core = round % 2 == 0;
    written_memory written{by_core};
    std::array<int, room> had{};
    had.fill(nobody);
    const auto draw = [&](std::size_t most) { return random() % (most + 1); };
    const auto others = [&](std::size_t at, std::size_t bytes, int but) {
      std::size_t found = 0;
      for (std::size_t i = at; i < at + bytes; ++i) found += had[i] != nobody && had[i] != but ? 1 : 0;
      return found;
    };
    const auto touch = [&](std::size_t at, std::size_t bytes, int by) {
      for (std::size_t i = at; i < at + bytes; ++i) had[i] = by_core ? by : nobody;
    };
    for (int step = 0; step < 100; ++step) {
      const std::size_t at = draw(room - 1);
      const std::size_t bytes = draw(room - at);
      const std::size_t to = draw(room - bytes);
      const int core = static_cast<int>(draw(2));
      REQUIRE(
          written.had_by(&memory[at], bytes, core) ==
          static_cast<std::size_t>(std::count(had.begin() + static_cast<std::ptrdiff_t>(at),
                                              had.begin() + static_cast<std::ptrdiff_t>(at + bytes), core)));
      std::size_t expected = others(at, bytes, core);
      switch (draw(4)) {
        case 0: {
          const int by = draw(1) != 0 ? core : written_memory::adapter;
          written.wrote(&memory[at], bytes, by);
          for (std::size_t i = at; i < at + bytes; ++i) had[i] = by;
          break;
        }
        case 4:
          written.forget(&memory[at], bytes);
          for (std::size_t i = at; i < at + bytes; ++i) had[i] = nobody;
          break;
        case 1:
          REQUIRE(written.read(&memory[at], bytes, core) == expected);
          touch(at, bytes, core);
          break;
        case 2:
          REQUIRE(written.copied(memory.data() + to, memory.data() + at, bytes, core) == expected);
          touch(at, bytes, core);
          touch(to, bytes, core);
          break;
        default:
          const std::size_t first = others(to, bytes, core);
          touch(to, bytes, core);
          expected = std::max(first, others(at, bytes, core));
          REQUIRE(written.combined(memory.data() + to, memory.data() + at, bytes, core) == expected);
          touch(at, bytes, core);
      }
    }
  }
}

TEST_CASE("Reuse distances are those of a list of bytes by their last touch", "[written]") {
  constexpr std::size_t room = 64;
  static std::array<std::byte, room> memory{};
  INFO("CHORALE_TEST_SEED=" << support::seed());
  std::mt19937_64 random{support::seed()};
  written_memory written{true};
  struct last {
    int who = -2;
    int when = 0;
  };
  std::array<last, room> had{};
  for (int step = 1; step < 20'000; ++step) {
    const std::size_t at = random() % room;
    const std::size_t bytes = random() % (room - at) + 1;
    const int core = static_cast<int>(random() % 2);
    std::size_t sum = 0;
    std::size_t found = 0;
    for (std::size_t i = at; i < at + bytes; ++i) {
      if (had[i].who != core) continue;
      ++found;
      sum += static_cast<std::size_t>(std::count_if(had.begin(), had.end(), [&](const last& other) {
        return other.who == core && other.when >= had[i].when;
      }));
    }
    REQUIRE(written.reuse_distance(&memory[at], bytes, core) == (found == 0 ? 0 : sum / found));
    if (random() % 2 == 0)
      written.wrote(&memory[at], bytes, core);
    else
      written.read(&memory[at], bytes, core);
    for (std::size_t i = at; i < at + bytes; ++i) had[i] = {core, step};
  }
}

TEST_CASE("Bytes at a large reuse distance cost as much as in large work", "[written]") {
  // Up to 1,000 bytes a nanosecond each, from there on ten.
  const work_cost copy{
      {{0, 10ns, byte_cost::rate(1'000'000'000)}, {1000, 0ns, byte_cost::rate(100'000'000)}}};
  CHECK(copy.within(0, 100) == 110ns);
  CHECK(copy.within(100, 100) == 110ns);
  // The call counts once.
  CHECK(copy.within(500, 100) == 110ns);
  CHECK(copy.within(1000, 100) == 1000ns);
  CHECK(copy.within(2000, 0) == 10ns);
  CHECK(of_two(copy, 100, 0, 0) == 110ns);
  // Half of the work is far away: a loop over 1,000 bytes in two operands needs 2,000.
  CHECK(of_two(copy, 100, 0, 2000) == (110ns + 1000ns) / 2);
  CHECK(of_two(copy, 100, 1998, 1998) == 110ns);
}

TEST_CASE("A rank copies more slowly after ranks on its core have evicted the bytes", "[written]") {
  machine on = support::test_machine(1);
  on.ranks_per_host = 3;
  on.host.cores = 1;
  on.host.context_switch = 1us;
  on.adapter.posting.copy = costs(0ns, 1'000'000'000);
  on.host.copy =
      work_cost{{{0, 0ns, byte_cost::rate(1'000'000'000)}, {8192, 0ns, byte_cost::rate(100'000'000)}}};
  const auto second_copy = [&on](int busy) {
    duration took{};
    run(3, on, [&](group& g) {
      chorale::communicator<chorale::transport::rc> comm{g, {}};
      std::vector<std::byte> from(4096);
      std::vector<std::byte> to(4096);
      const auto copy = [&] { chorale::copy_bytes(to.data(), from.data(), from.size()); };
      if (comm.rank() == 0) copy();
      comm.barrier();
      if (comm.rank() != 0 && comm.rank() <= busy) copy();
      comm.barrier();
      if (comm.rank() != 0) return;
      const instant begin = chorale::simulation::now();
      copy();
      took = chorale::simulation::now() - begin;
    });
    return took;
  };
  CHECK(second_copy(0) == 4096ns);
  CHECK(second_copy(2) == 40'960ns);
}

namespace {

/// The times of copies by rank 1 out of the mailbox: of a message of 100 bytes, twice; of the last 40 bytes
/// of another message, and then of all of it.
std::vector<duration> copies_on(const machine& on) {
  std::vector<duration> took;
  run(2, on, [&took](group& g) {
    chorale::communicator<chorale::transport::rc> comm{g, {}};
    support::in_call(comm, [&](auto& net, auto now) -> chorale::task<> {
      std::vector<std::byte> bytes(100, std::byte{7});
      for (int message = 0; message < 2; ++message) {
        if (comm.rank() == 0) {
          co_await net.send(1, now, bytes);
          continue;
        }
        const auto arrived = co_await net.receive(0, now);
        const auto from = arrived.bytes();
        const auto copy = [&](std::size_t first) {
          const instant begin = chorale::simulation::now();
          chorale::copy_bytes(bytes.data() + first, from.data() + first, from.size() - first);
          took.push_back(chorale::simulation::now() - begin);
        };
        if (message == 1) copy(60);
        copy(0);
        if (message == 0) copy(0);
        if (bytes[99] != std::byte{7}) throw std::runtime_error{"a copy is wrong"};
      }
    });
  });
  return took;
}

}  // namespace

TEST_CASE("The first copy of received memory takes longer, if the machine has such a cost", "[written]") {
  machine on = support::test_machine(2);
  on.host.copy = costs(10ns, 2'000'000'000);
  // Half a nanosecond a byte, whichever core or adapter wrote it.
  CHECK(copies_on(on) == std::vector<duration>{60ns, 60ns, 30ns, 60ns});
  on.host.copy_received = costs(20ns, 500'000'000);
  // 100 bytes at 2 ns each, then at the usual cost; 40 bytes, then the 60 before them and those 40 again.
  CHECK(copies_on(on) ==
        std::vector<duration>{20ns + 200ns, 10ns + 50ns, 20ns + 80ns, (20ns + 120ns) + (10ns + 20ns)});
}

TEST_CASE("Received operands take longer to combine the first time, if the machine has such a cost",
          "[written]") {
  machine on = support::test_machine(2);
  on.host.copy = costs(10ns, 2'000'000'000);
  on.host.combine = costs(10ns, 1'000'000'000);
  const auto times = [&on] {
    std::vector<duration> took;
    run(2, on, [&took](group& g) {
      chorale::communicator<chorale::transport::rc> comm{g, {}};
      support::in_call(comm, [&](auto& net, auto now) -> chorale::task<> {
        std::vector<std::byte> bytes(80);
        if (comm.rank() == 0) co_return co_await net.send(1, now, bytes);
        const auto arrived = co_await net.receive(0, now);
        const auto add = chorale::reduction::of<double>(std::plus<>{});
        for (int i = 0; i < 2; ++i) {
          const instant begin = chorale::simulation::now();
          add.combine_left(bytes, arrived.bytes());
          took.push_back(chorale::simulation::now() - begin);
        }
      });
    });
    return took;
  };
  CHECK(times() == std::vector<duration>{90ns, 90ns});
  on.host.combine_received = costs(20ns, 500'000'000);
  CHECK(times() == std::vector<duration>{20ns + 160ns, 90ns});
}
