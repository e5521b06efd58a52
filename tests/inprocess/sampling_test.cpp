// SPDX-License-Identifier: Apache-2.0
// Statistics and traces time a sample of many short calls, and only count the others.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/observing.hpp>
#include <chorale/statistics.hpp>
#include <chorale/transport/observers/sampled_kinds.hpp>
#include <chorale/window.hpp>

#include "journal_of_calls.hpp"
#include "ranks.hpp"

using namespace inprocess;
using chorale::operation;
using chorale::transport::sampled_kinds;

namespace {

/// Which of 10,000 events, drawn at random from three kinds, one rank observes.
std::vector<int> observed_of(std::uint64_t draw_from, chorale::clock::duration length,
                             std::array<std::uint64_t, 3>& counted) {
  // Two of them have the same place in the table.
  constexpr std::array<std::uint32_t, 3> keys{7, 8, 7 + 16 * 5};
  std::mt19937_64 draw{draw_from};
  sampled_kinds<std::size_t> kinds;
  std::vector<int> observed;
  const auto tell = [&](std::size_t last, std::uint64_t passed) { counted.at(last) += passed; };
  for (int i = 0; i < 10'000; ++i) {
    // The third is rare.
    const std::size_t which = draw() % 1000 == 0 ? 2 : draw() % 2;
    const std::uint32_t key = keys.at(which);
    if (kinds.passes(key)) continue;
    observed.push_back(i);
    ++counted.at(which);
    kinds.report(key, tell);
    kinds.note(key, which, length, chorale::clock::duration{4000}, true);
  }
  kinds.report_all(tell);
  return observed;
}

/// Observes like the statistics do, and counts the reports.
class samples final : public chorale::observer {
 public:
  void on_end(const chorale::observed_call& call) noexcept override {
    ++told;
    ++calls;
    failed += call.failure ? 1 : 0;
    longest = std::max(longest, call.waited);
  }
  void on_event(const chorale::observed_event& event) noexcept override {
    if (event.what != chorale::observed_event::kind::put) return;
    ++told;
    ++events;
  }
  [[nodiscard]] bool wants_all() const noexcept override { return false; }
  void on_passed(const chorale::observed_call& last, std::uint64_t number) noexcept override {
    calls += number;
    mistaken += last.what.what == operation::none || last.over < last.begun ? 1 : 0;
  }
  void on_passed_events(const chorale::observed_event& last, std::uint64_t number) noexcept override {
    if (last.what == chorale::observed_event::kind::put) events += number;
  }

  std::uint64_t told = 0;
  std::uint64_t calls = 0;
  std::uint64_t events = 0;
  std::uint64_t failed = 0;
  std::uint64_t mistaken = 0;
  chorale::clock::duration longest{};
};

/// Settings under which only a few calls of a kind are reported one by one.
chorale::config sparse() {
  chorale::config c = settings();
  c.sampling = std::chrono::seconds{1};
  c.trials = chorale::trial_policy::off;
  return c;
}

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

}  // namespace

TEST_CASE("samples count everything, and ranks of different speed have some in common", "[observing]") {
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    CAPTURE(seed);
    std::array<std::uint64_t, 3> counted{};
    const auto fast = observed_of(seed, chorale::clock::duration{20}, counted);
    CHECK(std::accumulate(counted.begin(), counted.end(), std::uint64_t{0}) == 10'000);
    std::array<std::uint64_t, 3> again{};
    const auto slow = observed_of(seed, chorale::clock::duration{400}, again);
    CHECK(again == counted);
    CHECK(slow.size() > fast.size());
    CHECK(slow.size() < 5000);
    CHECK(std::ranges::includes(slow, fast));
    std::array<std::uint64_t, 3> each{};
    CHECK(observed_of(seed, chorale::clock::duration{4000}, each).size() == 10'000);
    CHECK(each == counted);
  }
}

TEST_CASE("of many short calls some are told, and all are counted", "[observing]") {
  if (left_out_in_virtual_time("observing costs nothing there")) return;
  run_ranks<chorale::communicator<>>(3, sparse(), [](auto& comm) {
    const auto seen = std::make_shared<samples>();
    std::vector<std::int64_t> cells(4);
    chorale::window w{comm, std::span{cells}};
    chorale::observe(comm, seen);
    std::vector<int> data(3);
    for (int i = 0; i < 1000; ++i) {
      comm.allreduce(chorale::in_place, data, chorale::sum);
      comm.broadcast(data, chorale::root{1});
      w.put((comm.rank() + 1) % 3, 0, std::int64_t{i});
    }
    const auto all = std::make_shared<journal_of_calls>();
    chorale::observe(comm, all);
    require(seen->calls == 2000 && seen->events == 1000, "not all were counted");
    // The number of reports depends on how long calls wait here.
    require(seen->told <= 3000, std::to_string(seen->told) + " were told");
    require(seen->mistaken == 0, "a call without its kind");
    // An observer of all calls gets every report, and meanwhile so does the other observer.
    const std::uint64_t told = seen->told;
    for (int i = 0; i < 100; ++i) comm.allreduce(chorale::in_place, data, chorale::sum);
    require(all->calls.size() == 100 && seen->told == told + 100, "not all were told");
    all->check();
    chorale::stop_observing(comm, all);
    for (int i = 0; i < 1000; ++i) comm.allreduce(chorale::in_place, data, chorale::sum);
    chorale::stop_observing(comm, seen);
    require(seen->calls == 3100, "not all were counted at the end");
    require(seen->told <= told + 1100, "more were told than were made");
  });
}

TEST_CASE("a call that would be passed is told if it waits for long, or fails", "[observing]") {
  if (left_out_in_virtual_time("a rank is late by the machine's clock")) return;
  constexpr std::chrono::milliseconds late{50};
  run_ranks<chorale::communicator<>>(2, sparse(), [&](auto& comm) {
    const auto seen = std::make_shared<samples>();
    chorale::observe(comm, seen);
    const auto adds = [](int a, int b) -> int {
      if (a < 0) throw std::runtime_error("the operator's");
      return a + b;
    };
    std::vector<int> one{1};
    for (int i = 0; i < 500; ++i) {
      one[0] = 1;
      if (i == 400 && comm.rank() == 1) chorale::clock::sleep_for(late);
      comm.allreduce(chorale::in_place, one, adds);
    }
    if (comm.rank() == 0) require(seen->longest > late / 2, "the long wait was not told");
    one[0] = -1;
    const std::uint64_t told = seen->told;
    bool failed = false;
    try {
      comm.allreduce(chorale::in_place, one, adds);
    } catch (const std::exception&) {
      failed = true;
    }
    require(failed && seen->failed == 1 && seen->told == told + 1, "the failure was not told once");
    chorale::stop_observing(comm, seen);
    require(seen->calls == 501, std::to_string(seen->calls) + " calls were counted");
  });
}

TEST_CASE("statistics count calls that are not timed", "[observing]") {
  chorale::config c = sparse();
  c.statistics = chorale::statistics_policy::table();
  run_ranks<chorale::communicator<>>(2, c, [](auto& comm) {
    std::vector<double> data(2);
    for (int i = 1; i <= 2000; ++i) {
      comm.broadcast(data, chorale::root{i % 2});
      if (i % 500 != 0) continue;
      const auto all = comm.statistics();
      const auto sum = all.total();
      require(sum.calls == static_cast<std::uint64_t>(i) && sum.bytes == 16 * sum.calls, all.table());
      require(sum.time > chorale::clock::duration{} && sum.waited <= sum.time, all.table());
    }
  });
}

TEST_CASE("calls that were passed are reported at the end under the name of their algorithm", "[observing]") {
  if (left_out_in_virtual_time("observing costs nothing there")) return;
  /// Copies the names.
  class names final : public chorale::observer {
   public:
    void on_end(const chorale::observed_call& call) noexcept override { told.emplace(call.algorithm); }
    [[nodiscard]] bool wants_all() const noexcept override { return false; }
    void on_passed(const chorale::observed_call& last, std::uint64_t number) noexcept override {
      passed += number;
      mistaken += told.contains(std::string{last.algorithm}) ? 0 : 1;
    }
    std::set<std::string> told;
    std::uint64_t passed = 0;
    int mistaken = 0;
  };
  std::array<std::shared_ptr<names>, 2> seen{std::make_shared<names>(), std::make_shared<names>()};
  run_ranks<chorale::communicator<>>(2, sparse(), [&](auto& comm) {
    chorale::observe(comm, seen.at(static_cast<std::size_t>(comm.rank())));
    std::vector<double> data(8);
    for (int i = 0; i < 2000; ++i) comm.allreduce(chorale::in_place, data, chorale::sum);
  });
  for (const auto& one : seen) {
    CHECK(one->passed > 0);
    CHECK(one->mistaken == 0);
  }
}
