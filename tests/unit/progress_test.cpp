// SPDX-License-Identifier: Apache-2.0
// What `progress` returns and when its descriptor is readable, without a communicator.
#include <array>
#include <cerrno>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <optional>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/attention.hpp>
#include <chorale/core/background.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/core/error.hpp>
#include <chorale/core/progress.hpp>
#include <chorale/core/resumption.hpp>
#include <chorale/core/while_waiting.hpp>

namespace {

using chorale::background;
using chorale::clock;
using chorale::progress;
using chorale::progress_descriptor;

/// A coroutine that starts immediately, and whose exceptions propagate to its resumer.
struct job {
  struct promise_type {
    job get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    static std::suspend_never initial_suspend() noexcept { return {}; }
    static std::suspend_always final_suspend() noexcept { return {}; }
    static void return_void() {}
    static void unhandled_exception() { throw; }
  };
  std::coroutine_handle<promise_type> frame;
};

/// Work that lasts until it is told to end.
class pretended_work : private background {
 public:
  void start() { enlist(); }
  void end() { delist(); }
  clock::duration waited{};

 private:
  remainder advance(chorale::attention) noexcept override { return {.waited = waited}; }
};

/// Suspends a coroutine, which resumes when `is_over`.
class until final : private chorale::detail::resumption {
 public:
  explicit until(const bool& is_over) : is_over_(is_over) {}
  [[nodiscard]] static bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<> frame) noexcept { suspend(frame); }
  static void await_resume() noexcept {}

 private:
  [[nodiscard]] bool is_due() const noexcept override { return is_over_; }
  const bool& is_over_;
};

job append(const bool& is_over, std::vector<int>& to, int number) {
  co_await until{is_over};
  to.push_back(number);
}

/// Whether this thread's descriptor becomes readable within that many milliseconds.
bool is_readable(int milliseconds) {
  pollfd one{progress_descriptor(), POLLIN, 0};
  return poll(&one, 1, milliseconds) == 1;
}

constexpr int long_enough = 20'000;

/// Runs `what` on a thread of its own, which has no descriptor yet.
template <class Action>
void apart(const Action& what) {
  std::thread{what}.join();
}

TEST_CASE("progress says whether something is outstanding", "[progress]") {
  CHECK_FALSE(progress());
  pretended_work one;
  one.start();
  CHECK(progress());
  one.end();
  CHECK_FALSE(progress());
  bool is_outstanding = false;
  std::optional<bool> inside;
  const chorale::while_waiting other{[&] {
    inside = progress();
    return is_outstanding;
  }};
  CHECK_FALSE(progress());
  CHECK(inside == true);
  is_outstanding = true;
  CHECK(progress());
  one.start();
  is_outstanding = false;
  CHECK(progress());
}

TEST_CASE("the descriptor is readable while work is outstanding, and only then", "[progress]") {
  apart([] {
    pretended_work one;
    one.start();
    CHECK(is_readable(long_enough));  // the descriptor is created after the work was started
    CHECK(progress_descriptor() == progress_descriptor());
    CHECK((fcntl(progress_descriptor(), F_GETFD) & FD_CLOEXEC) != 0);
    for (const auto waited :
         {clock::duration{}, clock::duration{1}, clock::duration{std::chrono::hours{1}}}) {
      one.waited = waited;
      CHECK(progress());
      CHECK(is_readable(long_enough));
      CHECK(is_readable(long_enough));  // it stays readable until `progress` is called
    }
    one.end();
    CHECK_FALSE(progress());
    CHECK_FALSE(is_readable(5));
    // Work that ends before `progress` has seen it still wakes the loop.
    one.start();
    one.end();
    CHECK(is_readable(long_enough));
    CHECK_FALSE(progress());
    CHECK_FALSE(is_readable(5));
    const chorale::while_waiting driving{[] { return true; }};
    CHECK(is_readable(long_enough));
    CHECK(progress());
    CHECK(is_readable(long_enough));
  });
}

/// The numbers in the lines of this format in the kernel's information on a descriptor.
std::vector<long> told(int descriptor, const char* form) {
  std::vector<long> all;
  std::ifstream lines{"/proc/self/fdinfo/" + std::to_string(descriptor)};
  for (std::string line; std::getline(lines, line);)
    if (long number = 0; std::sscanf(line.c_str(), form, &number) == 1) all.push_back(number);
  return all;
}

TEST_CASE("the pause is never long", "[progress]") {
  apart([] {
    pretended_work one;
    one.start();
    const int due = progress_descriptor();
    one.waited = std::chrono::hours{1};
    progress();
    // Reads the expiry of the timer in the descriptor from the kernel, instead of measuring time.
    std::vector<long> seconds;
    std::vector<long> nanoseconds;
    for (const long part : told(due, "tfd: %ld")) {
      for (const long time : told(static_cast<int>(part), "it_value: (%ld,")) seconds.push_back(time);
      for (const long time : told(static_cast<int>(part), "it_value: (%*d, %ld")) nanoseconds.push_back(time);
    }
    CHECK(seconds == std::vector{0L});
    REQUIRE(nanoseconds.size() == 1);
    CHECK(nanoseconds[0] <= 1'000'000);
    one.end();
  });
}

TEST_CASE("each thread has its own descriptor, which ends with it", "[progress]") {
  int first = -1;
  pretended_work here;
  here.start();
  apart([&] {
    first = progress_descriptor();
    CHECK(is_readable(long_enough));  // once
    CHECK_FALSE(progress());
    CHECK_FALSE(is_readable(5));
  });
  here.end();
  CHECK(fcntl(first, F_GETFD) == -1);
  apart([&] { CHECK(progress_descriptor() == first); });  // the lowest free number
}

TEST_CASE("a child of fork() leaves its parent's descriptor alone", "[progress]") {
  apart([] {
    const int mine = progress_descriptor();
    progress();
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      pretended_work one;
      one.start();
      progress();
      const bool is_set = poll(std::array{pollfd{mine, POLLIN, 0}}.data(), 1, 5) == 1;
      const bool has_own = progress_descriptor() != mine && is_readable(long_enough);
      one.end();
      _exit(is_set ? 1 : has_own && !progress() ? 0 : 2);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK_FALSE(is_readable(5));
  });
}

TEST_CASE("where no descriptor is left the error says so, and progress goes on", "[progress]") {
  apart([] {
    rlimit before{};
    REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
    rlimit none = before;
    none.rlim_cur = 3;
    REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
    std::optional<int> code;
    try {
      static_cast<void>(progress_descriptor());
    } catch (const chorale::error& e) {
      code = e.code().value();
    }
    REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK(code == EMFILE);
    CHECK(is_readable(5));
    CHECK_FALSE(progress());
    CHECK_FALSE(is_readable(5));
  });
}

TEST_CASE("coroutines are resumed by progress, in order, once each", "[progress]") {
  bool is_over[4]{};
  std::vector<int> resumed;
  std::vector<job> jobs;
  for (int i = 0; i < 4; ++i) jobs.push_back(append(is_over[i], resumed, i));
  CHECK(progress());
  CHECK(resumed.empty());
  is_over[3] = is_over[1] = true;
  background::advance_all(chorale::attention::passes);  // as a wait does
  CHECK(resumed.empty());
  CHECK(progress());
  CHECK(resumed == std::vector{1, 3});
  jobs[2].frame.destroy();  // while it awaits
  is_over[0] = is_over[2] = true;
  CHECK_FALSE(progress());
  CHECK(resumed == std::vector{1, 3, 0});
  for (const int i : {0, 1, 3}) jobs[static_cast<std::size_t>(i)].frame.destroy();
}

TEST_CASE("an exception of a coroutine leaves progress, and the rest is resumed by the next", "[progress]") {
  apart([] {
    const bool is_over = true;
    static_cast<void>(progress_descriptor());
    const auto fail = [](const bool& over) -> job {
      co_await until{over};
      throw std::runtime_error("of a coroutine");
    };
    std::vector<int> resumed;
    const job one = fail(is_over);
    const job two = append(is_over, resumed, 2);
    CHECK_THROWS_AS(progress(), std::runtime_error);
    CHECK(resumed.empty());
    CHECK(is_readable(long_enough));
    CHECK_FALSE(progress());
    CHECK(resumed == std::vector{2});
    one.frame.destroy();
    two.frame.destroy();
  });
}

TEST_CASE("a coroutine may destroy another that is due, and call progress", "[progress]") {
  const bool is_over = true;
  std::vector<int> resumed;
  std::vector<job> others;
  const auto destroy = [&](const bool& over) -> job {
    co_await until{over};
    others[0].frame.destroy();
    progress();
    resumed.push_back(0);
  };
  const job one = destroy(is_over);
  others.push_back(append(is_over, resumed, 1));
  others.push_back(append(is_over, resumed, 2));
  CHECK_FALSE(progress());
  CHECK(resumed == std::vector{2, 0});
  one.frame.destroy();
  others[1].frame.destroy();
}

TEST_CASE("coroutines that outlive their thread are not resumed by another", "[progress]") {
  const bool is_over = true;
  std::vector<int> resumed;
  std::optional<job> left;
  apart([&] { left = append(is_over, resumed, 1); });
  CHECK_FALSE(progress());
  CHECK(resumed.empty());
  left->frame.destroy();
}

}  // namespace
