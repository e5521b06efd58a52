// SPDX-License-Identifier: Apache-2.0
#include "../../lib/core/timed_wait.hpp"

// Replacing time and yielding for a thread.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <thread>

#include <catch2/catch.hpp>

#include <chorale/bootstrap/in_process.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/core/error.hpp>

namespace {

using namespace std::chrono_literals;
using chorale::clock;

/// Time that advances only while a thread yields or sleeps.
struct virtual_time final : chorale::time_source {
  clock::time_point present{std::chrono::hours{1'000'000}};
  clock::duration step = 1us;
  std::uint64_t times_given_way = 0;
  std::uint64_t naps = 0;

  clock::time_point now() noexcept override { return present; }
  void give_way() noexcept override {
    ++times_given_way;
    present += step;
  }
  void sleep_until(clock::time_point end) noexcept override {
    ++naps;
    if (end > present) present = end;
  }
};

TEST_CASE("a thread has the machine's clock until it is replaced", "[clock]") {
  REQUIRE_FALSE(clock::is_replaced());
  const auto before = std::chrono::steady_clock::now();
  const auto between = clock::now();
  const auto after = std::chrono::steady_clock::now();
  CHECK(before <= between);
  CHECK(between <= after);

  virtual_time outer;
  virtual_time inner;
  inner.present += 1h;
  {
    const chorale::replaced_clock first{outer};
    CHECK(clock::now() == outer.present);
    {
      const chorale::replaced_clock second{inner};
      CHECK(clock::now() == inner.present);
    }
    CHECK(clock::now() == outer.present);
  }
  CHECK_FALSE(clock::is_replaced());
  CHECK(clock::now() >= after);
}

TEST_CASE("replacing time affects only one thread", "[clock]") {
  virtual_time source;
  const chorale::replaced_clock replaced{source};
  bool elsewhere = true;
  clock::time_point there;
  const auto before = std::chrono::steady_clock::now();
  std::thread{[&] {
    elsewhere = clock::is_replaced();
    there = clock::now();
    clock::give_way();
    clock::sleep_for(1ns);
  }}.join();
  CHECK_FALSE(elsewhere);
  CHECK(there >= before);
  CHECK(there <= std::chrono::steady_clock::now());
  CHECK(source.times_given_way == 0);
  CHECK(source.naps == 0);
}

TEST_CASE("a scheduler switches time with its fibers", "[clock]") {
  virtual_time one;
  virtual_time two;
  two.present += 1h;
  CHECK(clock::replace(&one) == nullptr);
  CHECK(clock::now() == one.present);
  CHECK(clock::replace(&two) == &one);
  CHECK(clock::now() == two.present);
  clock::sleep_for(2h);
  CHECK(clock::replace(nullptr) == &two);
  CHECK(two.present - one.present == 3h);
}

TEST_CASE("a wait in replaced time reaches its deadline without real time passing", "[clock]") {
  virtual_time source;
  const chorale::replaced_clock replaced{source};
  const auto begin = clock::now();
  // Spinning would neither run other fibers nor advance time.
  chorale::backoff pace{true};
  std::uint64_t looks = 0;
  // So long that the test would not end if this took real time.
  while (clock::now() - begin < 10min) {
    ++looks;
    if (pace()) pace.elapsed(clock::now() - begin);
  }
  CHECK(source.times_given_way > 0);
  CHECK(source.naps > 0);
  CHECK(source.times_given_way + source.naps == looks);
}

TEST_CASE("a sleep that is already over, and one of zero length", "[clock]") {
  clock::sleep_for(0ns);
  clock::sleep_for(-1h);
  const auto begin = std::chrono::steady_clock::now();
  clock::sleep_for(2ms);
  CHECK(std::chrono::steady_clock::now() - begin >= 2ms);
}

TEST_CASE("a wait for a condition variable uses the thread's clock", "[clock]") {
  std::mutex mutex;
  std::condition_variable changed;
  std::unique_lock lock{mutex};

  SECTION("the machine's clock") {
    CHECK_FALSE(chorale::wait_for(changed, lock, 1ms, [] { return false; }));
    bool done = false;
    std::thread other{[&] {
      const std::lock_guard hold{mutex};
      done = true;
      changed.notify_all();
    }};
    CHECK(chorale::wait_for(changed, lock, 1h, [&] { return done; }));
    lock.unlock();
    other.join();
  }
  SECTION("a replaced clock, with a timeout") {
    virtual_time source;
    const chorale::replaced_clock replaced{source};
    const auto end = clock::now() + 1h;
    CHECK_FALSE(chorale::wait_until(changed, lock, end, [] { return false; }));
    CHECK(clock::now() >= end);
    CHECK(lock.owns_lock());
  }
  SECTION("a replaced clock, while others get the lock") {
    struct giving final : chorale::time_source {
      std::mutex* mutex = nullptr;
      int done = 0;
      clock::time_point now() noexcept override { return {}; }
      void give_way() noexcept override {
        if (!mutex->try_lock()) return;
        ++done;
        mutex->unlock();
      }
      void sleep_until(clock::time_point) noexcept override {}
    } source;
    source.mutex = &mutex;
    const chorale::replaced_clock replaced{source};
    CHECK(chorale::wait_for(changed, lock, 1h, [&] { return source.done == 3; }));
    CHECK(lock.owns_lock());
  }
}

TEST_CASE("the in-process bootstrap completes in virtual time, too", "[clock]") {
  virtual_time source;
  const chorale::replaced_clock replaced{source};
  const auto hub = std::make_shared<chorale::bootstrap::in_process_hub>(2);
  chorale::bootstrap::in_process alone{hub, 0};
  const auto begin = clock::now();
  CHECK_THROWS_AS(alone.exchange({}, 50s), chorale::error);
  CHECK(clock::now() - begin >= 50s);
}

}  // namespace
