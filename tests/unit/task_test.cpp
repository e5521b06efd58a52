// SPDX-License-Identifier: Apache-2.0
// Coroutine tasks: when they run, how results and exceptions propagate, and what is destroyed.
#include <array>
#include <coroutine>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/task.hpp>

#include "../support/instrumented.hpp"

using chorale::task;

namespace {

/// Suspends its awaiter and remembers it.
struct gate {
  std::coroutine_handle<> waiting;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> h) noexcept { waiting = h; }
  void await_resume() const noexcept {}
};

/// Counts live objects.
struct tracked {
  explicit tracked(int& count) : count_(&count) { ++*count_; }
  tracked(const tracked&) = delete;
  tracked& operator=(const tracked&) = delete;
  ~tracked() { --*count_; }
  int* count_;
};

task<int> answer() {
  co_return 42;
}
task<std::unique_ptr<int>> box(int value) {
  co_return std::make_unique<int>(value);
}
task<> thrower(const char* words) {
  throw std::runtime_error(words);
  co_return;
}
task<> append(std::string& log, char c) {
  log += c;
  co_return;
}

}  // namespace

TEST_CASE("a task starts only when it is resumed", "[task]") {
  std::string log;
  auto t = append(log, 'a');
  CHECK(log.empty());
  CHECK(t.valid());
  CHECK_FALSE(t.done());
  t.resume();
  CHECK(t.done());
  CHECK(log == "a");
  t.result();
}

TEST_CASE("co_await returns values, including move-only ones", "[task]") {
  auto outer = []() -> task<int> {
    const int first = co_await answer();
    const auto second = co_await box(8);
    co_return first + *second;
  }();
  outer.resume();
  REQUIRE(outer.done());
  CHECK(outer.result() == 50);
}

TEST_CASE("co_await and result() rethrow exceptions", "[task]") {
  auto caught = []() -> task<std::string> {
    try {
      co_await thrower("inner");
    } catch (const std::runtime_error& e) {
      co_return std::string{"caught "} + e.what();
    }
    co_return "nothing";
  }();
  caught.resume();
  CHECK(caught.result() == "caught inner");

  auto through = []() -> task<> { co_await thrower("up"); }();
  through.resume();
  REQUIRE(through.done());
  CHECK_THROWS_WITH(through.result(), "up");
}

TEST_CASE("a suspended task resumes in its innermost frame", "[task]") {
  gate g;
  std::string log;
  const auto inner = [](gate& where, std::string& l) -> task<> {
    l += 'i';
    co_await where;
    l += 'j';
  };
  auto outer = [](auto in, gate& where, std::string& l) -> task<> {
    l += 'o';
    co_await in(where, l);
    l += 'p';
  }(inner, g, log);
  outer.resume();
  CHECK_FALSE(outer.done());
  CHECK(log == "oi");
  g.waiting.resume();
  CHECK(outer.done());
  CHECK(log == "oijp");
}

TEST_CASE("consecutive awaits take no stack", "[task]") {
  constexpr int awaits = support::instrumented ? 1'000'000 : 10'000'000;
  auto loop = []() -> task<long> {
    long sum = 0;
    for (int i = 0; i < awaits; ++i) sum += co_await answer();
    co_return sum;
  }();
  loop.resume();
  CHECK(loop.result() == 42L * awaits);
}

TEST_CASE("consecutive suspended awaits take no stack", "[task]") {
  constexpr int awaits = 1'000'000;
  gate g;
  auto loop = [](gate& where) -> task<long> {
    long sum = 0;
    for (int i = 0; i < awaits; ++i) {
      sum += co_await [](gate& w) -> task<int> {
        co_await w;
        co_return 3;
      }(where);
    }
    co_return sum;
  }(g);
  loop.resume();
  while (!loop.done()) std::exchange(g.waiting, {}).resume();
  CHECK(loop.result() == 3L * awaits);
}

TEST_CASE("a chain of awaits is resumed up to where it is suspended again", "[task]") {
  gate g;
  std::string log;
  struct descent {
    static task<int> to(int depth, gate& where, std::string& l) {
      if (depth == 0) {
        co_await where;
        l += '0';
        throw std::runtime_error("bottom");
      }
      int result = 0;
      try {
        result = co_await to(depth - 1, where, l);
      } catch (const std::runtime_error& e) {
        l += e.what()[0];
        result = 100;
      }
      if (depth == 3) co_await where;
      l += static_cast<char>('0' + depth);
      co_return result + depth;
    }
  };
  auto top = descent::to(5, g, log);
  top.resume();
  CHECK(log.empty());
  std::exchange(g.waiting, {}).resume();
  CHECK(log == "0b12");
  CHECK_FALSE(top.done());
  CHECK_THROWS_AS(top.result(), chorale::error);  // errc::misuse: it has not completed
  std::exchange(g.waiting, {}).resume();
  CHECK(log == "0b12345");
  CHECK(top.result() == 115);
}

TEST_CASE("moderate recursion fits into the stack", "[task]") {
  struct descent {
    static task<long> to(int depth) {
      if (depth == 0) co_return 0;
      co_return depth + co_await to(depth - 1);
    }
  };
  auto top = descent::to(2000);
  top.resume();
  CHECK(top.result() == 2000L * 2001 / 2);
}

TEST_CASE("destroying a suspended task destroys what its frames hold", "[task]") {
  gate g;
  int alive = 0;
  {
    auto outer = [](gate& where, int& count) -> task<> {
      const tracked one{count};
      co_await [](gate& w, int& c) -> task<> {
        const tracked two{c};
        co_await w;
      }(where, count);
    }(g, alive);
    outer.resume();
    CHECK(alive == 2);
  }
  CHECK(alive == 0);
}

TEST_CASE("moving a task moves its frame", "[task]") {
  std::string log;
  auto a = append(log, 'x');
  task<> b = std::move(a);
  CHECK_FALSE(a.valid());
  CHECK(a.done());
  b.resume();
  CHECK(log == "x");
  b = {};
  CHECK(b.done());
  task<> none;
  CHECK(none.done());
}

namespace {

struct lender {
  chorale::frame_arena arena;
  chorale::frame_arena& frames() noexcept { return arena; }
};

struct seen {
  std::vector<void*> frames;
};

/// An awaitable that records the address of the awaiting frame and does not suspend.
struct note_frame {
  seen* where;
  static bool await_ready() noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> h) const {
    where->frames.push_back(h.address());
    return false;
  }
  static void await_resume() noexcept {}
};

task<> noting(int, lender&, seen& s) {
  co_await note_frame{&s};
}

}  // namespace

TEST_CASE("the first argument with frames() provides the arena, which reuses frames", "[task]") {
  lender net;
  seen s;
  for (int i = 0; i < 3; ++i) {
    auto t = noting(i, net, s);
    t.resume();
    t.result();
  }
  REQUIRE(s.frames.size() == 3);
  CHECK(s.frames[0] == s.frames[1]);
  CHECK(s.frames[1] == s.frames[2]);
}

namespace {

task<> with(lender&, int) {
  co_return;
}
task<> suspended_at(lender&, gate& g) {
  co_await g;
}

}  // namespace

TEST_CASE("a task destroyed before it ran is recorded, others are not", "[task]") {
  lender net;
  {
    auto awaited = with(net, 1);
    awaited.resume();
    gate g;
    auto outer = [](lender& n, gate& where) -> task<> { co_await suspended_at(n, where); }(net, g);
    outer.resume();
    outer.discard();
    task<> moved = with(net, 2);
    const task<> target = std::move(moved);
    try {
      const auto unwound = with(net, 4);
      throw std::runtime_error("in flight");
    } catch (const std::runtime_error&) {
    }
    CHECK_FALSE(net.arena.has_forgotten());
  }
  CHECK(net.arena.has_forgotten());  // `target`
}

TEST_CASE("a large frame also knows its arena", "[task]") {
  struct large {
    std::array<std::byte, 8192> room{};
  };
  lender net;
  {
    const auto forgotten = [](lender&, large) -> task<> { co_return; }(net, large{});
  }
  CHECK(net.arena.has_forgotten());
}
