// SPDX-License-Identifier: Apache-2.0
// Events happen in the order of time, and of insertion at equal times.
#include "simulation/event_queue.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "simulation/random_bits.hpp"

namespace {

using namespace chorale::simulation;
using namespace std::chrono_literals;

TEST_CASE("Events happen by time, then in the order of insertion", "[events]") {
  event_queue queue;
  std::vector<int> happened;
  for (const auto& [when, what] : {std::pair{3, 1}, {1, 2}, {3, 3}, {2, 4}, {1, 5}})
    queue.add(instant{duration{when}}, [&happened, what = what] { happened.push_back(what); });
  CHECK(queue.first() == instant{duration{1}});
  while (!queue.empty()) queue.happen();
  CHECK(happened == std::vector{2, 5, 4, 1, 3});
}

TEST_CASE("A cancelled event does not happen, and its name names no other", "[events]") {
  event_queue queue;
  int happened = 0;
  const auto first = queue.add(instant{duration{1}}, [&] { ++happened; });
  CHECK(queue.cancel(first));
  CHECK_FALSE(queue.cancel(first));
  CHECK_FALSE(queue.cancel({}));
  CHECK(queue.empty());
  const auto second = queue.add(instant{duration{2}}, [&] { happened += 10; });
  CHECK_FALSE(queue.cancel(first));
  CHECK(queue.first() == instant{duration{2}});
  queue.happen();
  CHECK(happened == 10);
  CHECK_FALSE(queue.cancel(second));
}

TEST_CASE("Functions are destroyed once, whether called, cancelled or never reached", "[events]") {
  const auto held = std::make_shared<int>(0);
  {
    event_queue queue;
    std::array<std::byte, 2 * event_queue::room> large{};
    queue.add(instant{duration{1}}, [held] { ++*held; });
    queue.add(instant{duration{2}}, [held, large] { *held += 1 + static_cast<int>(large[0]); });
    queue.cancel(
        queue.add(instant{duration{3}}, [held, large] { *held += 100 + static_cast<int>(large[0]); }));
    queue.add(instant{duration{4}}, [held] { *held += 100; });
    queue.add(instant{duration{5}}, [held, large] { *held += 100 + static_cast<int>(large[0]); });
    CHECK(held.use_count() == 5);
    queue.happen();
    queue.happen();
    CHECK(held.use_count() == 3);
  }
  CHECK(held.use_count() == 1);
  CHECK(*held == 2);
}

TEST_CASE("An event may add and cancel others, but not cancel itself", "[events]") {
  event_queue queue;
  std::vector<int> happened;
  event_id self;
  self = queue.add(instant{duration{1}}, [&] {
    CHECK_FALSE(queue.cancel(self));
    const auto dropped = queue.add(instant{duration{1}}, [&] { happened.push_back(1); });
    for (int i = 0; i < 3000; ++i) queue.add(instant{duration{2 + i}}, [&, i] { happened.push_back(i); });
    queue.cancel(dropped);
  });
  while (!queue.empty()) queue.happen();
  REQUIRE(happened.size() == 3000);
  CHECK(happened[1234] == 1234);
}

TEST_CASE("While the last event happens, the queue is empty", "[events]") {
  event_queue queue;
  bool was_empty = false;
  queue.add(instant{duration{1}}, [&] { was_empty = queue.empty(); });
  queue.happen();
  CHECK(was_empty);
}

TEST_CASE("Events of near and far periods come in order", "[events]") {
  random_bits draw{7};
  event_queue queue;
  std::map<std::pair<instant, int>, int> expected;
  std::vector<int> happened;
  std::vector<int> right;
  instant now{};
  int number = 0;
  for (int step = 0; step < 20000; ++step) {
    // From within one period to the furthest calendar.
    const instant when =
        now + duration{static_cast<std::int64_t>(draw.below(std::uint64_t{1} << draw.below(57)))};
    expected[{when, number}] = number;
    queue.add(when, [&happened, number] { happened.push_back(number); });
    ++number;
    if (draw.below(5) == 0) continue;
    for (std::uint64_t i = draw.below(3); i > 0 && !expected.empty(); --i) {
      const auto first = expected.begin();
      now = first->first.first;
      REQUIRE(queue.first() == now);
      right.push_back(first->second);
      expected.erase(first);
      queue.happen();
    }
  }
  CHECK(happened == right);
  CHECK(happened.size() > 10000);
}

TEST_CASE("The order is that of an ordered map, whatever is added and cancelled", "[events]") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    INFO("seed " << seed);
    random_bits draw{seed};
    event_queue queue;
    std::map<std::pair<instant, int>, event_id> expected;
    std::vector<int> happened;
    std::vector<int> right;
    instant now{};
    for (int step = 0; step < 2000; ++step) {
      const auto kind = draw.below(10);
      if (kind < 5) {
        const instant when = now + duration{static_cast<std::int64_t>(draw.below(50))};
        expected[{when, step}] = queue.add(when, [&happened, step] { happened.push_back(step); });
      } else if (expected.empty()) {
        CHECK(queue.empty());
      } else if (kind < 7) {
        const auto victim = std::next(expected.begin(), static_cast<long>(draw.below(expected.size())));
        CHECK(queue.cancel(victim->second));
        expected.erase(victim);
      } else {
        now = expected.begin()->first.first;
        right.push_back(expected.begin()->first.second);
        expected.erase(expected.begin());
        CHECK(queue.first() == now);
        queue.happen();
      }
    }
    CHECK(happened == right);
  }
}

}  // namespace
