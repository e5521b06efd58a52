// SPDX-License-Identifier: Apache-2.0
// Verdicts depend only on injected events and times.
#include <catch2/catch.hpp>

#include <chorale/transport/liveness/failure_detector.hpp>

using chorale::transport::failure_detector;
using outcome = failure_detector::outcome;
using namespace std::chrono_literals;

namespace {

/// Rank 0 of four, which looks every 10 ms, as in a wait.
struct scene {
  failure_detector::time_point now{1h};
  failure_detector detector;

  explicit scene(failure_detector::limits l = {.silence = 2s, .stall = 10s}, int ranks = 4)
      : detector(ranks, l) {
    detector.advance_to(now);
  }
  /// Looks repeatedly for `time`, calling `each()` after each look.
  template <class Each>
  void pass(failure_detector::duration time, Each&& each) {
    for (const auto end = now + time; now < end;) {
      now += 10ms;
      detector.advance_to(now);
      each();
    }
  }
  void pass(failure_detector::duration time) {
    pass(time, [] {});
  }
  /// This rank does not run.
  void gap(failure_detector::duration time) {
    now += time;
    detector.advance_to(now);
  }
  /// The second of two verdicts; between them the owner finds its condition still false.
  failure_detector::verdict verdict_on(failure_detector::wait& wait) {
    static_cast<void>(detector.judge(wait));
    return detector.judge(wait);
  }
  /// Asks every 100 ms, as a wait does.
  void pass_asking(int peer, failure_detector::duration time) {
    int steps = 0;
    pass(time, [&] {
      if (++steps % 10 == 1) detector.ask(peer);
    });
  }
};

}  // namespace

TEST_CASE("a wait for a rank that answers never ends", "[liveness]") {
  scene s;
  auto wait = s.detector.begin(1);
  int reports = 0;
  s.pass(1h, [&] {
    s.detector.ask(1);
    s.detector.hear(1);
    const auto verdict = s.detector.judge(wait);
    if (verdict.what == outcome::stalled) ++reports;
    REQUIRE((verdict.what == outcome::keep_waiting || verdict.what == outcome::stalled));
  });
  // After 10, 30, 70, 150, 310, 630, 1270 and 2550 s.
  CHECK(reports == 8);
}

TEST_CASE("polling reports stalls and has no deadline; passing has neither", "[liveness]") {
  scene s({.silence = 2s, .stall = 10s, .deadline = 5s});
  auto wait = s.detector.begin(1);
  const auto reports_in = [&](failure_detector::duration time) {
    int reports = 0;
    s.pass(time, [&] {
      const auto verdict = s.detector.judge(wait);
      if (verdict.what == outcome::stalled) ++reports;
      REQUIRE((verdict.what == outcome::keep_waiting || verdict.what == outcome::stalled));
    });
    return reports;
  };
  wait.how = chorale::attention::passes;
  CHECK(reports_in(60s) == 0);
  wait.how = chorale::attention::polls;
  CHECK(reports_in(1s) == 1);
  CHECK(reports_in(18s) == 0);
  CHECK(reports_in(2s) == 1);
  wait.how = chorale::attention::waits;
  CHECK(s.verdict_on(wait).what == outcome::deadline);
  wait.how = chorale::attention::polls;
  s.detector.die(1);
  s.pass(1s);
  CHECK(s.verdict_on(wait).what == outcome::dead);
}

TEST_CASE("silence is the time since the first unanswered question", "[liveness]") {
  scene s;
  auto wait = s.detector.begin(1);
  s.pass(1min);
  CHECK(s.detector.silence_of(1) == 0s);
  s.pass_asking(1, 1900ms);
  CHECK(s.verdict_on(wait).what != outcome::silent);
  s.pass_asking(1, 200ms);
  const auto verdict = s.verdict_on(wait);
  CHECK(verdict.what == outcome::silent);
  CHECK(verdict.peer == 1);
  s.detector.hear(1);
  CHECK_FALSE(s.detector.is_silent(1));
  CHECK(s.detector.suspects().empty());
}

TEST_CASE("a few lost questions are not silence", "[liveness]") {
  scene s{{.silence = 100ms, .stall = 1h}};
  auto wait = s.detector.begin(1);
  for (unsigned i = 0; i + 1 < failure_detector::fewest_questions; ++i) s.detector.ask(1);
  s.pass(1s);
  CHECK(s.verdict_on(wait).what == outcome::keep_waiting);
  s.detector.ask(1);
  CHECK(s.verdict_on(wait).what == outcome::silent);
}

TEST_CASE("silence ends only waits that may depend on the silent peer", "[liveness]") {
  scene s;
  auto for_it = s.detector.begin(3);
  auto for_any = s.detector.begin(-1);
  auto for_another = s.detector.begin(1);
  s.pass_asking(3, 2100ms);
  CHECK(s.detector.suspects() == std::vector<int>{3});
  for (auto* wait : {&for_it, &for_any}) {
    const auto verdict = s.verdict_on(*wait);
    CHECK(verdict.what == outcome::silent);
    CHECK(verdict.peer == 3);
  }
  // The peer may have left, and this rank may have missed its farewell.
  s.pass(1h);
  CHECK(s.verdict_on(for_another).what != outcome::silent);
}

TEST_CASE("a silent peer is not lost while its process runs", "[liveness]") {
  scene s;
  const int awaited = GENERATE(1, -1);
  auto wait = s.detector.begin(awaited);
  int steps = 0;
  s.pass(1min, [&] {
    if (++steps % 10 != 1) return;
    s.detector.ask(1);
    s.detector.see_running(1);
    REQUIRE(s.detector.judge(wait).what != outcome::silent);
  });
  CHECK(s.detector.is_silent(1));
  // No rank can see the process any more.
  s.pass_asking(1, failure_detector::seen_recently + 100ms);
  CHECK(s.verdict_on(wait) == failure_detector::verdict{outcome::silent, 1});
}

TEST_CASE("time in which this rank did not run does not count against peers", "[liveness]") {
  scene s{{.silence = 2s, .stall = 10s, .deadline = 20s}};
  auto wait = s.detector.begin(1);
  s.pass_asking(1, 1s);
  s.gap(1h);
  CHECK(s.verdict_on(wait).what == outcome::keep_waiting);
  CHECK(s.detector.waited(wait) == 1s + failure_detector::longest_gap);
  SECTION("a silent peer is still detected") {
    s.pass_asking(1, 600ms);
    CHECK(s.verdict_on(wait).what == outcome::silent);
  }
  SECTION("a peer that answers is not lost") {
    s.detector.hear(1);
    s.pass(1s);
    CHECK(s.verdict_on(wait).what == outcome::keep_waiting);
  }
}

TEST_CASE("a clock that stops or runs backwards does no harm", "[liveness]") {
  scene s;
  const auto before = s.detector.attended();
  s.detector.advance_to(s.now);
  s.detector.advance_to(s.now - 1s);
  CHECK(s.detector.attended() == before);
  s.pass(100ms);
  CHECK(s.detector.attended() == before + 100ms);
}

TEST_CASE("a wait for a peer that has left ends when its last messages must have arrived", "[liveness]") {
  scene s;
  SECTION("during the wait") {
    auto wait = s.detector.begin(1);
    s.detector.leave(1);
    s.pass(10ms + failure_detector::last_messages);
    CHECK(s.verdict_on(wait).what == outcome::keep_waiting);
    s.pass(10ms);
    CHECK(s.verdict_on(wait).what == outcome::left);
  }
  SECTION("long before it") {
    s.detector.leave(1);
    s.pass(1h);
    auto wait = s.detector.begin(1);
    CHECK(s.verdict_on(wait).what == outcome::keep_waiting);
    s.pass(failure_detector::last_messages + 10ms);
    CHECK(s.verdict_on(wait).what == outcome::left);
  }
  SECTION("another one") {
    auto wait = s.detector.begin(2);
    s.detector.leave(1);
    s.detector.die(1);
    s.pass(5s);
    CHECK(s.verdict_on(wait).what == outcome::keep_waiting);
    CHECK(s.detector.has_left(1));
    CHECK_FALSE(s.detector.is_dead(1));
  }
}

TEST_CASE("a wait for any rank fails when all have left", "[liveness]") {
  scene s;
  auto wait = s.detector.begin(-1);
  s.detector.leave(1);
  s.detector.leave(2);
  s.pass(1s);
  CHECK(s.verdict_on(wait).what == outcome::keep_waiting);
  s.detector.leave(3);
  s.detector.leave(3);
  s.pass(1s);
  CHECK(s.verdict_on(wait).what == outcome::left);
}

TEST_CASE("where strangers leave without a farewell, their silence ends only waits for them", "[liveness]") {
  scene s{{.silence = 2s, .stall = 1h, .strangers_say_farewell = false}};
  auto for_it = s.detector.begin(3);
  auto for_any = s.detector.begin(-1);
  CHECK_FALSE(s.detector.may_have_left(3));
  s.pass_asking(3, 600ms);
  CHECK_FALSE(s.detector.may_have_left(3));
  s.pass_asking(3, 2100ms);
  CHECK(s.detector.may_have_left(3));
  CHECK(s.verdict_on(for_it).what == outcome::silent);
  CHECK(s.verdict_on(for_any).what == outcome::keep_waiting);
  SECTION("one that was heard before is no stranger") {
    s.detector.hear(3);
    CHECK_FALSE(s.detector.may_have_left(3));
    s.pass_asking(3, 2100ms);
    CHECK(s.verdict_on(for_any) == failure_detector::verdict{outcome::silent, 3});
  }
  SECTION("the others have left: so may have the stranger") {
    s.detector.leave(1);
    s.pass_asking(3, 1s);
    CHECK(s.verdict_on(for_any).what == outcome::keep_waiting);
    s.detector.leave(2);
    s.pass_asking(3, 50ms);
    CHECK(s.verdict_on(for_any).what == outcome::keep_waiting);
    s.pass_asking(3, 1s);
    CHECK(s.verdict_on(for_any).what == outcome::left);
  }
  SECTION("nobody else was ever heard") {
    s.detector.ask(1);
    s.pass(2s, [&] {
      s.detector.ask(1);
      s.detector.ask(2);
      s.detector.ask(3);
    });
    s.pass(500ms);
    CHECK(s.verdict_on(for_any).what == outcome::silent);
  }
  SECTION("a report that it has left ends the wait for it") {
    s.detector.leave(3);
    s.pass(1s);
    CHECK(s.verdict_on(for_it) == failure_detector::verdict{outcome::left, 3});
    CHECK_FALSE(s.detector.may_have_left(3));
  }
}

TEST_CASE("a dead rank ends every wait, later if the wait is not for it", "[liveness]") {
  scene s;
  auto for_it = s.detector.begin(1);
  auto for_another = s.detector.begin(2);
  s.detector.die(1);
  s.pass(failure_detector::last_messages + 10ms);
  CHECK(s.verdict_on(for_it).what == outcome::dead);
  CHECK(s.verdict_on(for_another).what == outcome::keep_waiting);
  s.pass(failure_detector::farewell);
  CHECK(s.verdict_on(for_another).what == outcome::keep_waiting);
  SECTION("no other rank has a farewell either") {
    s.detector.deny_farewell(1);
  }
  SECTION("no rank answers") {
    s.pass(2s);
  }
  const auto verdict = s.verdict_on(for_another);
  CHECK(verdict.what == outcome::dead);
  CHECK(verdict.peer == 1);
}

TEST_CASE("a farewell that arrives after the end of the process means no death", "[liveness]") {
  scene s;
  auto wait = s.detector.begin(2);
  s.detector.die(1);
  s.pass(200ms);
  s.detector.deny_farewell(1);
  s.detector.leave(1);
  s.pass(5s);
  CHECK(s.verdict_on(wait).what == outcome::keep_waiting);
}

TEST_CASE("a deadline ends a wait for any rank; without one nothing does", "[liveness]") {
  scene s{{.silence = 2s, .stall = 10s, .deadline = 1s}};
  auto wait = s.detector.begin(-1);
  s.pass(1s);
  CHECK(s.verdict_on(wait).what == outcome::keep_waiting);
  s.pass(10ms);
  CHECK(s.verdict_on(wait).what == outcome::deadline);
}

TEST_CASE("a group of one rank never waits in vain", "[liveness]") {
  scene s{{.silence = 1s, .stall = 1h}, 1};
  auto wait = s.detector.begin(-1);
  s.pass(1min);
  CHECK(s.verdict_on(wait).what == outcome::keep_waiting);
}

TEST_CASE("events that arrived while this rank did not run are checked before a wait ends", "[liveness]") {
  scene s{{.silence = 2s, .stall = 1h, .deadline = 300ms}};
  auto wait = s.detector.begin(1);
  s.pass(20ms);
  REQUIRE(s.detector.judge(wait).what == outcome::keep_waiting);
  outcome expected{};
  SECTION("a farewell, and the message before it") {
    s.detector.leave(1);
    s.gap(200ms);
    // The time before the farewell was read does not count, and this rank has not looked for the message yet.
    CHECK(s.detector.judge(wait).what == outcome::keep_waiting);
    CHECK(s.verdict_on(wait).what == outcome::keep_waiting);
    s.gap(200ms);
    expected = outcome::left;
  }
  SECTION("the farewell is old, the wait is new") {
    s.detector.leave(1);
    s.pass(1s);
    wait = s.detector.begin(1);
    s.gap(200ms);
    expected = outcome::left;
  }
  SECTION("the end of the process") {
    s.detector.die(1);
    s.gap(200ms);
    expected = outcome::dead;
  }
  SECTION("anything, when the deadline is over") {
    s.gap(400ms);
    expected = outcome::deadline;
  }
  CHECK(s.detector.judge(wait).what == outcome::keep_waiting);
  const auto verdict = s.detector.judge(wait);
  CHECK(verdict.what == expected);
  CHECK(verdict.peer == 1);
}

TEST_CASE("a suspicion that the next look does not confirm ends no wait", "[liveness]") {
  scene s{{.silence = 2s, .stall = 1h}};
  auto wait = s.detector.begin(-1);
  s.detector.die(1);
  s.detector.deny_farewell(1);
  s.gap(1h);
  s.pass(100ms);
  CHECK(s.detector.judge(wait).what == outcome::keep_waiting);
  // Its farewell arrives after all, and another rank dies.
  s.detector.leave(1);
  s.detector.die(3);
  s.detector.deny_farewell(3);
  s.pass(failure_detector::farewell + 10ms);
  CHECK(s.detector.judge(wait).what == outcome::keep_waiting);
  const auto verdict = s.detector.judge(wait);
  CHECK(verdict.what == outcome::dead);
  CHECK(verdict.peer == 3);
}
