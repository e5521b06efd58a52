// SPDX-License-Identifier: Apache-2.0
// The times reported to observers: a scale that follows a clock by a counter.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <random>
#include <stdexcept>

#include <catch2/catch.hpp>

#include <chorale/transport/observers/cycle_clock.hpp>

#include "../support/seed.hpp"

using chorale::clock;
using chorale::transport::cycle_clock;
using chorale::transport::cycle_scale;

namespace {

/// A machine whose clock and counter the test controls.
class machine {
 public:
  double cycles_a_nanosecond = 2.6;
  double steered = 1;  ///< rate of the clock
  double jitter = 0;   ///< maximum error of a reading of both, in nanoseconds
  double ahead = 0;    ///< maximum lead of the scale over the clock
  double behind = 0;
  std::size_t readings = 0;

  explicit machine(std::uint64_t seed) : draw_(seed) {}
  void pass(double nanoseconds) {
    clock_ += nanoseconds * steered;
    counter_ += nanoseconds * cycles_a_nanosecond;
  }
  void jump(double cycles) {
    counter_ += cycles;
    // When the counter goes back, the time may go back once.
    if (cycles < 0) before_ = {};
  }
  /// The scale's time; throws if it goes back.
  double ask() {
    const auto cycles = static_cast<std::uint64_t>(counter_);
    clock::time_point time{};
    if (scale_.reaches(cycles)) {
      time = scale_.at(cycles);
    } else {
      ++readings;
      const double wrong = jitter * std::uniform_real_distribution<>{-1, 1}(draw_);
      time = scale_.add({cycles, clock::time_point{clock::duration{std::llround(clock_ + wrong)}}});
    }
    if (time < before_) throw std::runtime_error("time has gone back");
    before_ = time;
    const double error = static_cast<double>(time.time_since_epoch().count()) - clock_;
    ahead = std::max(ahead, error);
    behind = std::max(behind, -error);
    return error;
  }
  /// Asks at random intervals, mostly short ones, for this time.
  void run(double nanoseconds) {
    for (double left = nanoseconds; left > 0;) {
      const double step = std::exponential_distribution<>{draw_() % 64 == 0 ? 1e-7 : 1e-4}(draw_);
      pass(step);
      ask();
      left -= step;
    }
  }
  void forget_errors() { ahead = behind = 0; }
  std::mt19937_64& draw() { return draw_; }

 private:
  std::mt19937_64 draw_;
  cycle_scale scale_;
  double clock_ = 1e15;
  double counter_ = 7e14;
  clock::time_point before_{};
};

}  // namespace

TEST_CASE("a scale of cycles follows the clock", "[observing]") {
  for (const double rate : {0.5, 1.0, 2.6, 5.7}) {
    CAPTURE(support::seed(), rate);
    machine here{support::seed()};
    here.cycles_a_nanosecond = rate;
    here.jitter = 10;
    here.run(2e9);
    // A reading that is wrong by 10 ns counts twice in the measured rate, and once itself.
    CHECK(here.ahead <= 41);
    CHECK(here.behind <= 41);
    CHECK(here.readings > 0);
    CHECK(here.readings < 20'000);
  }
}

TEST_CASE("a scale of cycles follows a clock that is steered", "[observing]") {
  CAPTURE(support::seed());
  machine here{support::seed()};
  for (int i = 0; i < 200; ++i) {
    here.steered = 1 + std::uniform_real_distribution<>{-4e-4, 4e-4}(here.draw());
    here.run(2e7);
  }
  // The span is 6.5 ms at this rate, of which 8e-4 are 5.2 us; a lead over one reading is gone at the next.
  CHECK(here.ahead <= 10'500);
  CHECK(here.behind <= 10'500);
  CHECK(here.ahead + here.behind > 100);
}

TEST_CASE("a scale of cycles outlives a counter that jumps", "[observing]") {
  for (const double jump : {-1e12, -1e6, 1e6, 1e9, 1e14}) {
    CAPTURE(support::seed(), jump);
    machine here{support::seed()};
    here.run(1e8);
    here.jump(jump);
    here.cycles_a_nanosecond = 3.1;
    // A small jump forwards stays within the span, and the clock catches up.
    here.run(1e8);
    here.forget_errors();
    here.run(1e8);
    CHECK(here.ahead <= 10);
    CHECK(here.behind <= 10);
  }
}

TEST_CASE("the clock of observed calls is that of the library", "[observing]") {
  // Upper bound of the differences between cores' counters and of the error of a reading.
  constexpr auto tolerance = std::chrono::microseconds{100};
  cycle_clock times;
  auto last = times.now();
  const auto end = clock::now() + std::chrono::milliseconds{60};
  for (auto before = clock::now(); before < end; before = clock::now()) {
    const auto time = times.now();
    const auto after = clock::now();
    REQUIRE(time >= last);
    REQUIRE(time >= before - tolerance);
    REQUIRE(time <= after + tolerance);
    last = time;
  }
  struct standing final : chorale::time_source {
    clock::time_point now() noexcept override { return clock::time_point{std::chrono::hours{1}}; }
    void give_way() noexcept override {}
    void sleep_until(clock::time_point) noexcept override {}
  } replaced;
  const chorale::replaced_clock here{replaced};
  CHECK(times.now() == replaced.now());
  CHECK(cycle_clock{}.now() == replaced.now());
}
