// SPDX-License-Identifier: Apache-2.0
// Which steps a wait needs, and when: times and facts in, steps out.
#include <chrono>

#include <catch2/catch.hpp>

#include <chorale/core/attention.hpp>
#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/transport/liveness/failure_detector.hpp>
#include <chorale/transport/liveness/watched_wait.hpp>

#include "../../lib/transport/liveness/questions.hpp"

using chorale::attention;
using namespace chorale::transport;
using namespace std::chrono_literals;

namespace {

constexpr chorale::clock::time_point start{1h};

/// A wait for rank 2 in call 7, watched from `start` on.
watched_wait begun() {
  watched_wait w{2, {7, 42, chorale::operation::barrier}};
  w.begin(start, failure_detector::wait{.peer = 2, .since = 5s});
  return w;
}

/// The steps of a blocking wait, without a stall.
watched_wait::steps after(watched_wait& w, chorale::clock::duration time) {
  return w.next(start + time, time, attention::waits, false);
}

}  // namespace

TEST_CASE("a wait probes after 20 ms, then every 100 ms, and asks others after a second", "[liveness]") {
  watched_wait w = begun();
  CHECK(w.has_begun());
  CHECK(w.since() == start);
  CHECK(w.peer() == 2);
  CHECK(w.call().number == 7);
  CHECK(w.judged().since == 5s);
  CHECK(!after(w, 0ms).probes);
  CHECK(!after(w, 19ms).probes);
  CHECK(after(w, 20ms).probes);
  CHECK(!after(w, 20ms).probes);
  CHECK(!after(w, 119ms).probes);
  // The next probe is due relative to when the last was made, not to when it was due.
  CHECK(after(w, 150ms).probes);
  CHECK(!after(w, 249ms).probes);
  const auto early = after(w, 999ms);
  CHECK((early.probes && !early.asks_others));
  const auto late = after(w, 1099ms);
  CHECK((late.probes && late.asks_others));
  CHECK(!after(w, 1150ms).asks_others);
  // Time in which the rank was stopped does not count as waiting.
  const auto stopped = w.next(start + 1h, 2ms, attention::waits, false);
  CHECK((stopped.probes && !stopped.asks_others));
}

TEST_CASE("a stalled wait surveys the other ranks until it is over, except when passing", "[liveness]") {
  watched_wait w = begun();
  CHECK(!after(w, 1ms).surveys);
  const auto first = w.next(start + 2ms, 2ms, attention::waits, true);
  CHECK((first.begins_survey && first.surveys));
  const auto next = after(w, 3ms);
  CHECK((!next.begins_survey && next.surveys));
  CHECK(!w.next(start + 4ms, 4ms, attention::passes, false).surveys);
  CHECK(w.next(start + 5ms, 5ms, attention::polls, false).surveys);
  w.end_survey();
  CHECK(!after(w, 6ms).surveys);
  CHECK(!w.end());

  w.begin(start, {.peer = 2});
  CHECK(w.next(start, 0ms, attention::waits, true).begins_survey);
  // The wait ends in the middle of its survey, which is not needed any more.
  CHECK(w.end());
  CHECK(!w.has_begun());
  CHECK(!w.end());
}

TEST_CASE("a wait is judged for the current attention and the currently awaited rank", "[liveness]") {
  watched_wait w = begun();
  CHECK(w.judged_by(attention::polls).how == attention::polls);
  w.expect(3);
  CHECK(w.peer() == 3);
  CHECK(w.judged_by(attention::waits).peer == 3);
  CHECK(watched_wait::shown_until(start, attention::waits) == chorale::clock::time_point::max());
  CHECK(watched_wait::shown_until(start, attention::polls) == start + failure_detector::longest_gap);
}

TEST_CASE("a mismatch query asks every 40 ms until answered, or for 2 s", "[liveness]") {
  using step = mismatch_query::step;
  mismatch_query about{start};
  CHECK(about.next(start, {}) == step::ask);
  CHECK(about.next(start, {}) == step::read);
  CHECK(about.next(start + 39ms, {}) == step::read);
  CHECK(about.next(start + 45ms, {}) == step::ask);
  CHECK(about.next(start + 84ms, {}) == step::read);
  CHECK(about.next(start + 85ms, {}) == step::ask);
  CHECK(about.next(start + 86ms, {.has_answered = true}) == step::judge);
  CHECK(about.next(start + 86ms, {.is_gone = true}) == step::judge);
  CHECK(about.next(start + 86ms, {.has_failed = true}) == step::judge);
  CHECK(about.next(start + 1999ms, {}) == step::ask);
  CHECK(about.next(start + 2s, {}) == step::judge);
  // No question if the answer is known already.
  CHECK(mismatch_query{start}.next(start, {.has_answered = true}) == step::judge);
}

TEST_CASE("a question is asked at once, and again when another one begins", "[liveness]") {
  repeated_question q;
  CHECK(q.is_due(start));
  CHECK(!q.is_due(start + 39ms));
  q.restart();
  CHECK(q.is_due(start + 39ms));
  CHECK(!q.is_due(start + 78ms));
  CHECK(q.is_due(start + 79ms));
}

TEST_CASE("a farewell is sent ten times, at intervals that double after the fourth", "[liveness]") {
  farewell_rounds rounds;
  auto time = start;
  for (const auto pause : {1ms, 1ms, 1ms, 1ms, 2ms, 4ms, 8ms, 16ms, 32ms}) {
    REQUIRE(rounds.is_due(time));
    rounds.note(time);
    CHECK(!rounds.are_over());
    CHECK(!rounds.is_due(time + pause - 1us));
    time += pause;
  }
  rounds.note(time);
  CHECK(rounds.are_over());
  CHECK(!rounds.is_due(time + 1h));
}
