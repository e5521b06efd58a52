// SPDX-License-Identifier: Apache-2.0
// Virtual time, and a net whose faults depend on a seed.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <queue>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <chorale/core/clock.hpp>

#include "../support/instrumented.hpp"

namespace protocols {

using chorale::clock;
using namespace std::chrono_literals;

/// Faults of datagrams.
struct faults {
  double loss = 0;
  double duplication = 0;
  clock::duration least_delay = 5us;
  clock::duration most_delay = 200us;
};

/// Events in the order of their times, and optionally the history of what happened.
class virtual_net {
 public:
  virtual_net(std::uint64_t seed, bool with_history) : random_(seed), with_history_(with_history) {}

  [[nodiscard]] clock::time_point now() const noexcept { return now_; }
  /// Uniform in 0..bound-1.
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  bool chance(double probability) { return static_cast<double>(random_() >> 11) * 0x1p-53 < probability; }
  clock::duration between(clock::duration least, clock::duration most) {
    return least + clock::duration(static_cast<std::int64_t>(
                       below(static_cast<std::uint64_t>((most - least).count()) + 1)));
  }

  void after(clock::duration delay, std::function<void()> what) {
    events_.push({now_ + delay, next_++, std::move(what)});
  }
  /// Sends a datagram, which may be lost, or arrive twice.
  void send(const faults& f, const std::function<void()>& deliver) {
    if (chance(f.loss)) return note([] { return "  lost"; });
    after(between(f.least_delay, f.most_delay), deliver);
    if (chance(f.duplication)) after(between(f.least_delay, 10 * f.most_delay), deliver);
  }
  /// Runs the next event; false if there is none.
  bool step() {
    if (events_.empty()) return false;
    // A priority queue returns its top only as a constant.
    auto next = std::move(const_cast<event&>(events_.top()));
    events_.pop();
    now_ = next.when;
    next.what();
    return true;
  }

  /// Adds the line `say()` to the history.
  template <class Say>
  void note(Say&& say) {
    if (with_history_)
      history_ +=
          fmt::format("{:>12} {}\n", std::chrono::nanoseconds{now_.time_since_epoch()}.count(), say());
  }
  [[nodiscard]] const std::string& history() const noexcept { return history_; }

 private:
  struct event {
    clock::time_point when;
    std::uint64_t number;
    std::function<void()> what;
    friend bool operator<(const event& a, const event& b) {
      return a.when != b.when ? a.when > b.when : a.number > b.number;
    }
  };

  // Time zero stands for "never" in state machines.
  clock::time_point now_ = clock::time_point{} + 1s;
  std::mt19937_64 random_;
  bool with_history_;
  std::priority_queue<event> events_;
  std::uint64_t next_ = 0;
  std::string history_;
};

/// The schedules of a test, from the environment: the first seed and their number, by default `usual`.
struct schedules {
  explicit schedules(std::uint64_t usual) : count(support::instrumented ? usual / 50 : usual) {
    if (const char* n = std::getenv("CHORALE_TEST_SEEDS")) count = std::strtoull(n, nullptr, 0);
    const char* given = std::getenv("CHORALE_TEST_SEED");
    first = given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device{}();
    std::cout << fmt::format("CHORALE_TEST_SEED={} CHORALE_TEST_SEEDS={}", first, count) << std::endl;
  }
  std::uint64_t first = 0;
  std::uint64_t count;
};

/// Runs `scenario(net)`, which throws on an error, for each seed; fails the test case at the first error, and
/// prints the history of that seed.
template <class Scenario>
void run(const schedules& s, Scenario&& scenario) {
  for (std::uint64_t seed = s.first; seed != s.first + s.count; ++seed) {
    try {
      virtual_net net{seed, false};
      scenario(net);
    } catch (const std::exception& e) {
      virtual_net again{seed, true};
      std::string repeated = "(it did not fail again: something depends on more than the seed)";
      try {
        scenario(again);
      } catch (const std::exception& second) {
        repeated = second.what();
      }
      FAIL("seed " << seed << ": " << e.what() << "\nhistory, in ns of virtual time:\n"
                   << again.history() << repeated);
    }
  }
  SUCCEED();
}

}  // namespace protocols
