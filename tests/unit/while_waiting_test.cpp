// SPDX-License-Identifier: Apache-2.0
#include "../../lib/core/timed_wait.hpp"

// Callables that a thread drives by itself while it waits: lifetimes, threads, naps.
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <type_traits>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <chorale/core/attention.hpp>
#include <chorale/core/background.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/core/error.hpp>
#include <chorale/core/while_waiting.hpp>

namespace {

using namespace std::chrono_literals;
using chorale::attention;
using chorale::background;
using chorale::clock;
using chorale::while_waiting;

static_assert(!std::is_copy_constructible_v<while_waiting> && !std::is_move_constructible_v<while_waiting>);
static_assert(!std::is_copy_assignable_v<while_waiting> && !std::is_move_assignable_v<while_waiting>);

void advance() {
  background::advance_all(attention::passes);
}

/// Counts naps and yields.
struct counted_time final : chorale::time_source {
  clock::time_point present{1h};
  int yields = 0;
  int naps = 0;

  clock::time_point now() noexcept override { return present; }
  void give_way() noexcept override {
    ++yields;
    present += 1us;
  }
  void sleep_until(clock::time_point end) noexcept override {
    ++naps;
    present = end;
  }
};

/// Whether this action ends a child process by std::terminate.
template <class Action>
bool terminates(const Action& what) {
  constexpr int by_terminate = 77;
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::set_terminate([] { _exit(by_terminate); });
    what();
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) && WEXITSTATUS(status) == by_terminate;
}

TEST_CASE("a thread drives what it has made while it lives", "[while_waiting]") {
  int calls = 0;
  {
    const while_waiting one{[&] { return ++calls != 2; }};
    CHECK(background::drives_others());
    CHECK(clock::may_nap());
    advance();
    CHECK(calls == 1);
    CHECK_FALSE(clock::may_nap());
    advance();
    CHECK(clock::may_nap());
    advance();
    CHECK_FALSE(clock::may_nap());
  }
  CHECK_FALSE(background::drives_others());
  CHECK(clock::may_nap());
  advance();
  CHECK(calls == 3);
  CHECK_THROWS_AS(while_waiting{nullptr}, chorale::error);
  CHECK_FALSE(background::drives_others());
}

TEST_CASE("several are all driven, and end in any order", "[while_waiting]") {
  int calls[3]{};
  bool outstanding[3]{};
  std::optional<while_waiting> all[3];
  for (int i = 0; i < 3; ++i)
    all[i].emplace([&calls, &outstanding, i] {
      ++calls[i];
      advance();  // calls neither this callable nor the others recursively
      return outstanding[i];
    });
  advance();
  CHECK((calls[0] == 1 && calls[1] == 1 && calls[2] == 1));
  CHECK(clock::may_nap());
  outstanding[1] = outstanding[0] = true;
  advance();
  all[0].reset();
  CHECK_FALSE(clock::may_nap());
  all[1].reset();
  CHECK(clock::may_nap());
  advance();
  CHECK((calls[0] == 2 && calls[1] == 2 && calls[2] == 3));
  all[2].reset();
  CHECK_FALSE(background::drives_others());
}

TEST_CASE("functions make and end others", "[while_waiting]") {
  std::optional<while_waiting> other;
  int calls = 0;
  int of_other = 0;
  const while_waiting first{[&] {
    if (++calls % 2 == 0)
      other.reset();
    else
      other.emplace([&] { return ++of_other > 0; });
    return false;
  }};
  for (int i = 0; i < 6; ++i) advance();
  CHECK(calls == 6);
  CHECK(of_other <= 3);
  CHECK(clock::may_nap());
}

TEST_CASE("an exception is thrown by the next wait that may fail, once", "[while_waiting]") {
  int calls = 0;
  const auto failing = [&]() -> bool {
    ++calls;
    throw std::runtime_error("of the function");
  };
  {
    const while_waiting one{failing};
    advance();
    CHECK_THROWS_WITH(background::rethrow_failure(), "of the function");
    CHECK_NOTHROW(background::rethrow_failure());
    advance();
    CHECK(calls == 1);
    CHECK_FALSE(background::drives_others());
  }
  {
    const while_waiting one{failing};
    advance();
  }
  CHECK_NOTHROW(background::rethrow_failure());
  CHECK(calls == 2);
  // From within a callable, a wait for another communicator's call does not throw this failure.
  const while_waiting one{failing};
  const while_waiting two{[] {
    background::rethrow_failure();
    return false;
  }};
  const while_waiting three{failing};
  advance();
  CHECK_THROWS_WITH(background::rethrow_failure(), "of the function");
}

TEST_CASE("each thread drives its own", "[while_waiting]") {
  int calls = 0;
  std::unique_ptr<while_waiting> left_over;
  const while_waiting here{[&] {
    ++calls;
    return true;
  }};
  advance();
  std::thread{[&] {
    CHECK_FALSE(background::drives_others());
    CHECK(clock::may_nap());
    advance();
    left_over = std::make_unique<while_waiting>([] { return true; });
    advance();
  }}.join();
  CHECK(calls == 1);
  // Its thread has ended.
  left_over.reset();
  CHECK_FALSE(clock::may_nap());
}

TEST_CASE("what would leave a thread with a function that is gone ends the program", "[while_waiting]") {
  CHECK(terminates([] {
    std::optional<while_waiting> one;
    one.emplace([&] {
      one.reset();
      return false;
    });
    advance();
  }));
  CHECK(terminates([] {
    auto one = std::make_unique<while_waiting>([] { return false; });
    std::thread{[&] { one.reset(); }}.join();
  }));
  CHECK_FALSE(terminates([] {
    auto one = std::make_unique<while_waiting>([] { return false; });
    one.reset();
  }));
}

TEST_CASE("a wait yields, and does not nap, while something is outstanding", "[while_waiting]") {
  counted_time time;
  const chorale::replaced_clock with{time};
  bool is_outstanding = true;
  const while_waiting one{[&] { return is_outstanding; }};
  advance();
  chorale::backoff pace{false};
  pace.elapsed(1s);
  for (int i = 0; i < 100; ++i) CHECK(pace());
  CHECK(time.yields == 100);
  CHECK(time.naps == 0);
  is_outstanding = false;
  advance();
  CHECK(pace());
  CHECK(time.naps == 1);
}

TEST_CASE("a thread that drives others also does so at a condition variable", "[while_waiting]") {
  std::mutex mutex;
  std::condition_variable changed;
  int calls = 0;
  const while_waiting one{[&] {
    // The lock is free meanwhile.
    CHECK(mutex.try_lock());
    mutex.unlock();
    return ++calls < 100;
  }};
  std::unique_lock lock{mutex};
  CHECK(chorale::wait_for(changed, lock, 60s, [&] { return calls == 200; }));
  CHECK_FALSE(chorale::wait_for(changed, lock, 1ms, [] { return false; }));
}

}  // namespace
