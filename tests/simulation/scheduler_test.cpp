// SPDX-License-Identifier: Apache-2.0
// Fibers take turns in virtual time.
#include "simulation/scheduler.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/clock.hpp>
#include <chorale/core/error.hpp>

#include "../support/expect.hpp"
#include "simulation/random_bits.hpp"

namespace {

using namespace chorale::simulation;
using namespace std::chrono_literals;
using Catch::Contains;
using support::thrown_by;

TEST_CASE("Fibers sleep in virtual time, and those that began first come first", "[scheduler]") {
  scheduler all;
  std::vector<std::string> order;
  for (const int i : {3, 1, 2}) {
    all.spawn(std::to_string(i), -1, [&, i] {
      order.push_back("begin " + std::to_string(i));
      const auto before = chorale::clock::now();
      chorale::clock::sleep_for(i * 1h);
      CHECK(chorale::clock::now() - before == i * 1h);
      order.push_back("end " + std::to_string(i));
    });
  }
  all.run();
  CHECK(order == std::vector<std::string>{"begin 3", "begin 1", "begin 2", "end 1", "end 2", "end 3"});
  CHECK(all.now() == instant{3h});
  CHECK_FALSE(chorale::clock::is_replaced());
}

TEST_CASE("A fiber that computes is ahead of others until it settles", "[scheduler]") {
  scheduler all;
  int seen = 0;
  all.at(instant{10ns}, [&] { seen = 1; });
  all.at(instant{30ns}, [&] { seen = 2; });
  all.spawn("a", -1, [&] {
    all.charge(20ns);
    CHECK(all.now() == instant{20ns});
    CHECK(seen == 0);
    all.settle();
    CHECK(seen == 1);
    CHECK(all.now() == instant{20ns});
  });
  all.run();
  CHECK(seen == 1);
}

TEST_CASE("A poller notices that time passes though its memory is not touched", "[scheduler]") {
  scheduler all;
  all.spawn("poller", 0, [&] {
    const auto end = chorale::clock::now() + 10ms;
    while (chorale::clock::now() < end) chorale::clock::give_way();
    CHECK(chorale::clock::now() - end < 20us);
  });
  all.run();
  CHECK(all.events() < 1'000);
}

TEST_CASE("A poller sees an event in its next round, and the time as late as its gaps are long",
          "[scheduler]") {
  scheduler_options options;
  options.poll = 50ns;
  options.shortest_gap = GENERATE(0us, 5us);
  const bool has_gaps = options.shortest_gap != duration::zero();
  scheduler all{options};
  bool there = false;
  all.at(instant{1'020ns}, [&] {
    there = true;
    all.touch(3);
  });
  all.spawn("poller", 3, [&] {
    while (!there) chorale::clock::give_way();
    CHECK(all.now() == instant{1'050ns});
    if (!has_gaps) return;
    const auto end = chorale::clock::now() + 12us;
    while (chorale::clock::now() < end) chorale::clock::give_way();
    CHECK(chorale::clock::now() - end <= 5us);
  });
  all.run();
  CHECK(all.events() < (has_gaps ? 8 : 60));
}

TEST_CASE("A change between two looks of a round is seen in the next round", "[scheduler]") {
  scheduler all;
  bool there = false;
  all.at(instant{100us}, [&] {
    there = true;
    all.touch(0);
  });
  all.spawn("poller", 0, [&] {
    // It has polled for so long that, without a change, its next poll would come late.
    while (all.now() < instant{95us}) all.give_way();
    if (!there) {
      all.charge(instant{101us} - all.now());
      all.settle();
      all.give_way();
    }
    CHECK(there);
    CHECK(all.now() < instant{101us} + 200ns);
  });
  all.run();
}

TEST_CASE("A fiber that sleeps for a file wakes after its signal and the time of waking", "[scheduler]") {
  scheduler_options options;
  options.wake = 3us;
  scheduler all{options};
  int woken = 0;
  all.spawn("sleeper", 1, [&] {
    chorale::clock::await_change(chorale::clock::now() + 1s);
    CHECK(all.now() == instant{10us});
    ++woken;
    // A signal while the fiber is awake is not lost.
    all.charge(10us);
    all.settle();
    chorale::clock::await_change(chorale::clock::now() + 1s);
    CHECK(all.now() == instant{20us});
    ++woken;
    chorale::clock::await_change(chorale::clock::now() + 1ms);
    CHECK(all.now() == instant{1'020us});
  });
  all.spawn("another", 2, [&] { chorale::clock::changed(); });
  all.at(instant{7us}, [&] { all.signal(1); });
  all.at(instant{12us}, [&] {
    all.touch(1);
    all.signal(1);
  });
  all.run();
  CHECK(woken == 2);
}

TEST_CASE("The library's own work is charged to the fiber that does it", "[scheduler]") {
  scheduler_options options;
  options.work = [](chorale::host_work what, std::size_t bytes) {
    return what == chorale::host_work::copy ? duration{static_cast<std::int64_t>(bytes)} : duration{1us};
  };
  scheduler all{options};
  all.spawn("a", 0, [&] {
    chorale::clock::worked(chorale::host_work::call);
    chorale::clock::worked(chorale::host_work::copy, 500);
    CHECK(all.now() == instant{1us + duration{500}});
  });
  all.run();
  CHECK(all.now() == instant{1us + duration{500}});
}

TEST_CASE("A wait ends by a notification or by its deadline, and tells which", "[scheduler]") {
  scheduler all;
  wait_list list;
  all.spawn("late", -1, [&] {
    CHECK_FALSE(all.wait(list, "nothing", instant{1us}));
    CHECK(all.now() == instant{1us});
    CHECK(all.wait(list, "a notice"));
    CHECK(all.now() == instant{5us});
  });
  auto& notifier = all.spawn("notifier", -1, [&] {
    all.sleep_until(instant{5us});
    all.notify(list);
    all.charge(1us);
  });
  all.spawn("joiner", -1, [&] {
    all.join(notifier);
    CHECK(all.now() == instant{6us});
    all.join(notifier);
  });
  all.run();
}

TEST_CASE("If no fiber can run, all waiting fibers are named and get an error", "[scheduler]") {
  scheduler all;
  wait_list list;
  int ended = 0;
  for (int rank = 0; rank < 2; ++rank) {
    all.spawn("rank " + std::to_string(rank), rank, [&, rank] {
      const auto at_end = std::shared_ptr<void>{nullptr, [&](void*) { ++ended; }};
      all.charge(1us);
      all.wait(list, rank == 0 ? "a letter" : "the other");
    });
  }
  const auto text = thrown_by([&] { all.run(); });
  CHECK_THAT(text, Contains("no rank can continue") && Contains("rank 0 waits for a letter") &&
                       Contains("rank 1 waits for the other") && Contains("1.000 us"));
  CHECK(ended == 2);
}

TEST_CASE("The first exception of a fiber comes out of run after the others have ended", "[scheduler]") {
  scheduler all;
  bool ended = false;
  all.spawn("a", -1, [&] {
    all.sleep_until(instant{2us});
    throw std::runtime_error{"second"};
  });
  all.spawn("b", -1, [&] {
    all.sleep_until(instant{1us});
    throw std::runtime_error{"first"};
  });
  all.spawn("c", -1, [&] {
    all.sleep_until(instant{3us});
    ended = true;
  });
  CHECK(thrown_by([&] { all.run(); }) == "first");
  CHECK(ended);
}

TEST_CASE("An exception of an event, and the end of time, stop a simulation", "[scheduler]") {
  scheduler_options options;
  options.end = instant{1ms};
  scheduler limited{options};
  limited.spawn("poller", 0, [&] {
    for (;;) limited.give_way();
  });
  CHECK_THAT(thrown_by([&] { limited.run(); }), Contains("1000.000 us") && Contains("poller polls"));

  scheduler failing;
  failing.spawn("sleeper", -1, [&] { failing.sleep_until(instant{1s}); });
  failing.at(instant{1us}, [] { throw std::runtime_error{"of an event"}; });
  CHECK(thrown_by([&] { failing.run(); }) == "of an event");
  CHECK(failing.now() == instant{1us});
}

TEST_CASE("An event cannot be in the past, and cannot wait", "[scheduler]") {
  scheduler all;
  wait_list list;
  all.spawn("a", -1, [&] {
    all.charge(1us);
    CHECK_THAT(thrown_by([&] { all.at(instant{999ns}, [] {}); }), Contains("before 1.000 us"));
  });
  all.run();
  all.spawn("b", -1, [&] { all.sleep_until(instant{2us}); });
  all.after(0ns, [&] { all.wait(list, "luck"); });
  CHECK_THAT(thrown_by([&] { all.run(); }), Contains("an event of a simulation waits for luck"));
}

// The run time keeps the exceptions under way of each thread, but a thread has several fibers.
TEST_CASE("Each fiber has its own exceptions", "[scheduler]") {
  scheduler all;
  for (int i = 0; i < 4; ++i) {
    all.spawn(std::to_string(i), -1, [&, i] {
      try {
        throw i;
      } catch (int outer) {
        all.sleep_until(instant{(4 - i) * 1us});
        try {
          throw std::string{"inner " + std::to_string(i)};
        } catch (const std::string& inner) {
          all.sleep_until(instant{10us + i * 1us});
          CHECK(inner == "inner " + std::to_string(i));
        }
        CHECK(outer == i);
        CHECK_THROWS_AS(std::rethrow_exception(std::current_exception()), int);
      }
      CHECK(std::current_exception() == nullptr);
    });
  }
  all.run();
}

TEST_CASE("Fibers start thousands of fibers, one after the other in the same memory", "[scheduler]") {
  scheduler_options options;
  options.stack_bytes = 1 << 16;
  scheduler all{options};
  int ran = 0;
  all.spawn("root", -1, [&] {
    for (int i = 0; i < 3'000; ++i) all.join(all.spawn("child", -1, [&] { ++ran; }));
  });
  all.run();
  CHECK(ran == 3'000);
}

/// The history of a mixture of all operations, as text.
std::string history(std::uint64_t seed) {
  scheduler all;
  random_bits random{seed};
  std::string text;
  std::vector<int> memory(5);
  const auto write = [&](int rank, char what) {
    text += std::to_string(rank) + what + std::to_string(all.now().time_since_epoch().count()) + '\n';
  };
  for (int rank = 0; rank < 5; ++rank) {
    all.spawn(std::to_string(rank), rank, [&, rank] {
      for (int round = 1; round <= 20; ++round) {
        all.charge(duration{static_cast<std::int64_t>(random.below(100'000))});
        const auto to = static_cast<int>(random.below(5));
        all.after(duration{static_cast<std::int64_t>(random.below(3'000'000))}, [&, to] {
          ++memory[static_cast<std::size_t>(to)];
          write(to, 'm');
          all.touch(to);
        });
        const auto end = all.now() + 1us;
        auto& mine = memory[static_cast<std::size_t>(rank)];
        while (mine == 0 && all.now() < end) all.give_way();
        mine = 0;
        write(rank, 'r');
      }
    });
  }
  all.run();
  return text;
}

TEST_CASE("The same seed gives the same history, another seed a different one", "[scheduler]") {
  CHECK(history(1) == history(1));
  CHECK(history(7) == history(7));
  CHECK(history(1) != history(7));
}

}  // namespace
