// SPDX-License-Identifier: Apache-2.0
// A single attempt of a wait.
#include "../../lib/transport/liveness/awaited.hpp"

#include <string>

#include <catch2/catch.hpp>

using namespace chorale::transport;

namespace {

/// Records the steps of an attempt, with `(` and `)` for taking and releasing the lock.
struct journal {
  std::string text{};
  void lock() { text += '('; }
  void unlock() { text += ')'; }

  /// An attempt that finds `first` before reading and `second` after it; `reads`: whether the read finds
  /// anything.
  bool attempt(finding first, finding second, bool reads = true) {
    int looks = 0;
    return take_awaited(
        *this,
        [&] {
          text += 'l';
          return looks++ == 0 ? first : second;
        },
        [&] {
          text += 'r';
          return reads;
        },
        [&] { text += 'a'; }, [&](std::uint32_t seen) { text += "d" + std::to_string(seen); });
  }
};

constexpr finding here{presence::here, 0};
constexpr finding other{presence::of_another_call, 7};

}  // namespace

TEST_CASE(
    "an attempt tests its condition again after a read that found something, and reports a mismatch "
    "without the lock",
    "[awaited]") {
  struct {
    finding first;
    finding second;
    bool is_here;
    const char* does;
  } const cases[]{
      {here, {}, true, "(l)"},     {{}, here, true, "(lrl)"},     {{}, {}, false, "(lrla)"},
      {other, {}, false, "(l)d7"}, {{}, other, false, "(lrl)d7"},
  };
  for (const auto& c : cases) {
    journal j;
    CHECK(j.attempt(c.first, c.second) == c.is_here);
    CHECK(j.text == c.does);
  }
  journal idle;
  CHECK_FALSE(idle.attempt({}, {}, false));
  CHECK(idle.text == "(lra)");
}

TEST_CASE("an attempt that fails releases the lock", "[awaited]") {
  journal j;
  const auto fail = []() -> bool { throw 1; };
  const auto take = [] { return presence::absent; };
  CHECK_THROWS_AS(take_awaited(
                      j, take, fail, [] {}, [](std::uint32_t) {}),
                  int);
  CHECK_THROWS_AS(take_awaited(
                      j, take, [] { return true; }, fail, [](std::uint32_t) {}),
                  int);
  CHECK(j.text == "()()");
}
