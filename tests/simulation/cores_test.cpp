// SPDX-License-Identifier: Apache-2.0
// Ranks that share cores: which one runs, and at what cost.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/communicator.hpp>
#include <chorale/simulation/run.hpp>

#include "../support/seed.hpp"
#include "../support/simulated.hpp"
#include "simulation/host_cores.hpp"
#include "simulation/scheduler.hpp"

namespace {

using namespace std::chrono_literals;
namespace sim = chorale::simulation;
using sim::duration;
using sim::instant;
using sim::shared_core;

constexpr sim::core_costs costs{.look = 100ns, .context_switch = 1us};

/// A reference for `shared_core` that simulates each poll of each thread.
class by_looks {
 public:
  void add(shared_core::thread who, instant now) {
    if (!holder_ && line_.empty()) free_ = std::max(free_, now);
    line_.push_back({who, now});
  }
  void give_way(instant now, instant due) {
    line_.push_back({*holder_, due});
    before_ = std::exchange(holder_, std::nullopt);
    free_ = now;
  }
  void hurry(shared_core::thread who, instant due) {
    for (auto& one : line_)
      if (one.who == who) one.due = std::min(one.due, due);
  }
  void remove(shared_core::thread who, instant now) {
    const bool had_it =
        holder_ == who || (!holder_ && !line_.empty() && line_.front().who == who && free_ < now);
    std::erase_if(line_, [&](const auto& one) { return one.who == who; });
    if (!had_it) return;
    holder_.reset();
    before_ = who;
    free_ = now;
  }
  /// Simulates all polls up to `until`, or up to the first that succeeds: returns its thread and its time.
  std::optional<shared_core::turn> go_on(instant until) {
    while (!holder_ && !line_.empty()) {
      const auto first = line_.front();
      const instant look = free_ + (before_ && *before_ != first.who ? costs.context_switch : duration{});
      const bool sees = first.due <= look;
      if ((sees ? look : look + costs.look) > until) break;
      line_.pop_front();
      if (sees) {
        holder_ = first.who;
        return shared_core::turn{look, first.who};
      }
      line_.push_back(first);
      before_ = first.who;
      free_ = look + costs.look;
    }
    return std::nullopt;
  }

 private:
  std::deque<shared_core::waiting> line_;
  instant free_{};
  std::optional<shared_core::thread> before_;
  std::optional<shared_core::thread> holder_;
};

TEST_CASE("A core's turns are as if each look of its threads were simulated", "[cores]") {
  std::mt19937_64 draw{support::seed()};
  const auto below = [&](std::int64_t bound) {
    return static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(bound));
  };
  for (int round = 0; round < 200; ++round) {
    shared_core core{costs};
    by_looks other;
    std::vector<bool> can_run(5);
    instant now{};
    instant busy_until{};
    int turns = 0;
    for (int i = 0; i < 300; ++i) {
      now += duration{below(i % 3 == 0 ? 40'000'000 : 1'000'000)};
      while (true) {
        if (const auto holder = core.holder()) {
          if (busy_until > now) break;
          const instant due = busy_until + duration{below(20'000'000)};
          core.give_way(busy_until, due);
          other.give_way(busy_until, due);
        }
        const auto expected = other.go_on(now);
        const auto found = core.next();
        REQUIRE((found && found->when <= now) == expected.has_value());
        if (!expected) break;
        REQUIRE(found->who == expected->who);
        REQUIRE(found->when == expected->when);
        core.begin(*found);
        REQUIRE(core.holder() == expected->who);
        busy_until = found->when + duration{below(5'000'000)};
        ++turns;
      }
      const auto who = static_cast<shared_core::thread>(below(5));
      if (!can_run[who]) {
        core.add({who, now}, now);
        other.add(who, now);
        can_run[who] = true;
      } else if (below(3) == 0) {
        core.remove(who, now);
        other.remove(who, now);
        can_run[who] = false;
      } else {
        const instant due = now + duration{below(100'000)};
        core.hurry(who, due);
        other.hurry(who, due);
      }
      REQUIRE(core.runnable() == static_cast<std::size_t>(std::count(can_run.begin(), can_run.end(), true)));
    }
    CHECK(turns > 100);
  }
}

TEST_CASE("Threads go to the cores with the fewest, and an idle core takes one", "[cores]") {
  sim::host_cores cores{2, costs};
  CHECK(cores.add(0, std::nullopt, instant{}) == 0);
  CHECK(cores.add(1, std::nullopt, instant{}) == 1);
  CHECK(cores.add(2, 1, instant{}) == 1);
  CHECK(cores.add(3, 1, instant{}) == 0);
  CHECK_FALSE(cores.remove(1, 1, instant{1us}));
  const auto moved = cores.remove(2, 1, instant{2us});
  REQUIRE(moved);
  CHECK((moved->who == 3 && moved->from == 0 && moved->to == 1));
  CHECK((cores[0].runnable() == 1 && cores[1].runnable() == 1));
  CHECK(cores[1].next()->who == 3);
  // The only remaining thread cannot be taken from its core.
  CHECK_FALSE(cores.remove(3, 1, instant{3us}));
}

/// A host of one core for four ranks.
sim::machine one_core() {
  sim::machine m = support::test_machine(4);
  m.host.cores = 1;
  m.host.context_switch = 1us;
  return m;
}

TEST_CASE("Ranks that compute on one core do so one after the other", "[cores]") {
  const auto all = sim::run(4, one_core(), [](sim::group&) { sim::compute(10us); });
  CHECK(all.elapsed == 4 * 10us + 3 * 1us);
  // As many ranks as there are cores do not wait.
  CHECK(sim::run(1, one_core(), [](sim::group&) { sim::compute(10us); }).elapsed == 10us);
  sim::machine two = one_core();
  two.host.cores = 2;
  CHECK(sim::run(4, two, [](sim::group&) { sim::compute(10us); }).elapsed == 2 * 10us + 1us);
  CHECK(sim::run(3, two, [](sim::group&) { sim::compute(10us); }).elapsed == 2 * 10us + 1us);
}

TEST_CASE("Ranks that crowd a core pay for crowded context switches", "[cores]") {
  sim::machine m = one_core();
  m.host.crowded_context_switch = 3us;
  const auto compute = [](sim::group&) { sim::compute(10us); };
  CHECK(sim::run(4, m, compute).elapsed == 4 * 10us + 3 * 3us);
  CHECK(sim::run(3, m, compute).elapsed == 3 * 10us + 2 * 3us);
  // Two are not crowded.
  CHECK(sim::run(2, m, compute).elapsed == 2 * 10us + 1us);
  m.host.cores = 2;
  CHECK(sim::run(4, m, compute).elapsed == 2 * 10us + 1us);
}

/// The longest time of `calls` allreduces on any rank.
duration allreduces(const sim::machine& on, const sim::run_options& options = {}) {
  duration longest{};
  sim::run(
      4, on,
      [&](sim::group& g) {
        chorale::communicator<> comm{g, {}};
        comm.barrier();
        const auto begin = sim::now();
        for (int i = 1; i <= 10; ++i) CHECK(comm.allreduce(i * (g.rank() + 1), std::plus<>{}) == i * 10);
        longest = std::max(longest, sim::now() - begin);
      },
      options);
  return longest;
}

TEST_CASE("A collective over a shared core is right, and takes longer", "[cores]") {
  const duration alone = allreduces(support::test_machine(4));
  const duration shared = allreduces(one_core());
  CHECK(shared > alone);
  // No rank ends a call before all others have had the core since the end of the call before the last.
  CHECK(shared > 9 * 3 * 1us);
  // No message waits for more than a few rounds.
  CHECK(shared < alone + 10 * 10 * 4 * 1us);
}

TEST_CASE("Shared cores are shared the same way with the same seed", "[cores]") {
  sim::run_options options;
  options.wrong.held_up = 100'000;
  options.wrong.longest_delay = 30us;
  const duration first = allreduces(one_core(), options);
  CHECK(allreduces(one_core(), options) == first);
  options.seed = 2;
  CHECK(allreduces(one_core(), options) != first);
}

/// Three ranks that share a core.
sim::scheduler_options shared_by_three() {
  sim::scheduler_options options;
  options.poll = costs.look;
  options.wake = 3us;
  options.hosts = {.ranks = {3, 3}, .cores = 1, .costs = costs};
  return options;
}

TEST_CASE("A poller sees a change when its turn comes", "[cores]") {
  sim::scheduler all{shared_by_three()};
  int there = 0;
  all.at(instant{100us}, [&] {
    there = 3;
    for (int rank = 0; rank < 3; ++rank) all.touch(rank);
  });
  std::vector<instant> seen;
  for (int rank = 0; rank < 3; ++rank)
    all.spawn("poller", rank, [&] {
      while (there == 0) all.give_way();
      seen.push_back(all.now());
      all.charge(5us);
    });
  all.run();
  REQUIRE(seen.size() == 3);
  // The first gets the core at the latest when a turn that another rank may have begun ends.
  CHECK((seen[0] >= instant{100us} && seen[0] <= instant{100us} + costs.look + costs.context_switch));
  CHECK(seen[1] == seen[0] + 5us + costs.context_switch);
  CHECK(seen[2] == seen[1] + 5us + costs.context_switch);
}

TEST_CASE("Changes while others had the core are fetched at the next look", "[cores]") {
  sim::scheduler_options options = shared_by_three();
  options.notice = 200ns;
  sim::scheduler all{options};
  bool there = false;
  all.at(instant{100us}, [&] {
    there = true;
    for (int i = 0; i < 5; ++i) all.touch(0);
  });
  all.spawn("poller", 0, [&] {
    while (!there) all.give_way();
    CHECK(all.now() == instant{500us} + costs.context_switch + 5 * 200ns);
  });
  all.spawn("busy", 1, [&] {
    all.charge(instant{500us} - all.now());
    all.settle();
  });
  all.run();
}

TEST_CASE("Pollers that share a core cost few events", "[cores]") {
  sim::scheduler all{shared_by_three()};
  bool there = false;
  all.at(instant{1s}, [&] {
    there = true;
    for (int rank = 0; rank < 3; ++rank) all.touch(rank);
  });
  for (int rank = 0; rank < 3; ++rank)
    all.spawn("poller", rank, [&] {
      while (!there) all.give_way();
    });
  all.run();
  CHECK(all.events() < 3 * 1s / 20us + 1'000);
}

TEST_CASE("A helper that wakes waits for its turn on the core", "[cores]") {
  sim::scheduler all{shared_by_three()};
  all.spawn("helper", 1, [&] {
    all.sleep_until_signal(sim::never);
    // It was runnable from 8 us on.
    CHECK(all.now() == instant{20us + 2 * costs.context_switch});
  });
  all.spawn("rank", 0, [&] {
    all.charge(20us);
    all.settle();
  });
  all.at(instant{5us}, [&] { all.signal(1); });
  all.run();
}

TEST_CASE("A sleeper that is woken twice has one turn", "[cores]") {
  sim::scheduler all{shared_by_three()};
  sim::wait_list never_notified;
  all.spawn("sleeper", 1, [&] {
    // The end of its sleep comes while another thread computes, and then the signal.
    all.sleep_until_signal(instant{4us});
    CHECK(all.now() == instant{20us + 2 * costs.context_switch});
    CHECK_FALSE(all.wait(never_notified, "nothing", instant{90us}));
    CHECK(all.now() == instant{90us});
  });
  all.spawn("rank", 0, [&] {
    all.charge(20us);
    all.settle();
  });
  all.at(instant{18us}, [&] { all.signal(1); });
  all.run();
}

TEST_CASE("A rank that is killed, or stopped, leaves its core to others", "[cores]") {
  const auto compute = [](sim::scheduler& all, duration time) {
    all.charge(time);
    all.settle();
  };
  std::vector<instant> ends(3);
  const auto run = [&](const std::function<void(sim::scheduler&)>& fault) {
    sim::scheduler all{shared_by_three()};
    all.at(instant{10us}, [&] { fault(all); });
    for (int rank = 0; rank < 3; ++rank)
      all.spawn("rank", rank, [&, rank] {
        compute(all, rank == 0 ? 100us : 20us);
        ends[static_cast<std::size_t>(rank)] = all.now();
      });
    all.run();
  };
  const instant second{10us + costs.context_switch + 20us};

  SECTION("killed while it has the core") {
    run([](sim::scheduler& all) { all.kill(0); });
    CHECK(ends == std::vector{instant{}, second, second + costs.context_switch + 20us});
  }
  SECTION("killed in line") {
    run([](sim::scheduler& all) { all.kill(1); });
    CHECK(ends == std::vector{instant{100us}, instant{}, instant{100us + costs.context_switch + 20us}});
  }
  SECTION("stopped while it has the core") {
    run([](sim::scheduler& all) { all.stop(0, instant{40us}); });
    // The work that it had begun counts as done by then; it continues as if it had not been stopped, if the
    // core is free.
    CHECK(ends ==
          std::vector{instant{100us + costs.context_switch}, second, second + costs.context_switch + 20us});
  }
  SECTION("stopped in line") {
    run([](sim::scheduler& all) { all.stop(1, instant{300us}); });
    CHECK(ends == std::vector{instant{100us}, instant{300us + costs.context_switch + 20us},
                              instant{100us + costs.context_switch + 20us}});
  }
}

}  // namespace
