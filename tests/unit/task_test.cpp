// Coroutine tasks: when they run, where results and exceptions go, what is destroyed.
#include <coroutine>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/task.hpp>

using chorale::task;

namespace {

/// Suspends its awaiter and remembers it.
struct gate {
  std::coroutine_handle<> waiting;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> h) noexcept { waiting = h; }
  void await_resume() const noexcept {}
};

/// Counts how many live.
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

TEST_CASE("a task begins when it is resumed and not before", "[task]") {
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

TEST_CASE("values come through co_await, also those that can only be moved", "[task]") {
  auto outer = []() -> task<int> {
    const int first = co_await answer();
    const auto second = co_await box(8);
    co_return first + *second;
  }();
  outer.resume();
  REQUIRE(outer.done());
  CHECK(outer.result() == 50);
}

TEST_CASE("exceptions come through co_await and result()", "[task]") {
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

TEST_CASE("a suspended task goes on where it stood, in the innermost frame", "[task]") {
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

TEST_CASE("awaits in turn take no stack", "[task]") {
#ifdef __OPTIMIZE__
  constexpr int awaits = 1'000'000;
#else
  constexpr int awaits = 1'000;  // without optimisation compilers call where they could jump
#endif
  auto loop = []() -> task<long> {
    long sum = 0;
    for (int i = 0; i < awaits; ++i) sum += co_await answer();
    co_return sum;
  }();
  loop.resume();
  CHECK(loop.result() == 42L * awaits);
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

/// An awaitable that notes the address of the frame that awaits it and does not suspend.
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

TEST_CASE("the first argument that lends frames lends this one: it is used again", "[task]") {
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
