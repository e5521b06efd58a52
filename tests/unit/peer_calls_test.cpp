// SPDX-License-Identifier: Apache-2.0
// What ranks tell each other about their calls, and how this is judged: messages and times in, verdicts out.
#include "../../lib/transport/liveness/peer_calls.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/core/error.hpp>
#include <chorale/transport/status/status.hpp>

#include "../../lib/transport/liveness/stall_reports.hpp"
#include "../../lib/transport/liveness/stall_survey.hpp"
#include "../../lib/transport/status/status_messages.hpp"

using chorale::call;
using chorale::call_id;
using chorale::operation;
using namespace chorale::transport;
using namespace std::chrono_literals;

namespace {

constexpr chorale::clock::time_point start{1h};

bool has(const std::optional<std::string>& text, const std::string& words) {
  return text && text->find(words) != std::string::npos;
}

/// A rank that makes calls.
struct rank_of_calls {
  status_page page;
  std::uint64_t made = 0;
  call_id next(operation what, int root = -1) {
    const call c{.what = what, .root = root};
    page.begin(++made, c);
    return {made, c.signature(), what};
  }
  void complete() { page.complete(made); }
  [[nodiscard]] status_answer about(std::uint64_t number) const { return {page, number, start}; }
};

/// Rank 1 of 3, which waits for rank 2.
struct pair_of_ranks {
  rank_of_calls mine;
  rank_of_calls theirs;
  peer_calls known{1, mine.page};
  call_id both(operation what, int root = -1) {
    theirs.next(what, root);
    return mine.next(what, root);
  }
};

}  // namespace

TEST_CASE("an answer is judged once, and names both calls if they differ", "[liveness]") {
  pair_of_ranks all;
  const call_id same = all.both(operation::barrier);
  all.known.take(2, all.theirs.about(1));
  CHECK(!all.known.judge_newest(2, same, start));
  const call_id now = all.mine.next(operation::broadcast, 0);
  CHECK(!all.known.judge_newest(2, now, start));
  // The other rank has not reached this call yet.
  all.known.take(2, all.theirs.about(2));
  CHECK(!all.known.judge_newest(2, now, start));
  all.theirs.next(operation::broadcast, 2);
  all.known.take(2, all.theirs.about(2));
  const auto no = all.known.judge_newest(2, now, start);
  REQUIRE(no);
  CHECK(no->code() == chorale::errc::mismatch);
  CHECK(no->ranks() == std::vector<int>{1, 2});
  CHECK(has(no->what(), "call 2 on rank 1 is broadcast with root 0, on rank 2 it is broadcast with root 2"));
  CHECK(!all.known.judge_newest(2, now, start));
}

TEST_CASE("a rank that has continued after an exchange is overdue after eight answers and a second",
          "[liveness]") {
  pair_of_ranks all;
  const call_id now = all.both(operation::exchange);
  all.theirs.next(operation::barrier);
  const auto after = [&](auto time) { return all.known.judge(2, all.theirs.about(1), now, start + time); };
  // It has begun a later, nonblocking call, and may yet send what this call waits for.
  for (int i = 0; i < 20; ++i) CHECK(!after(i * 100ms));
  all.theirs.complete();
  for (int i = 200; i < 220; ++i) CHECK(!after(i * 10ms));
  const auto no = after(3001ms);
  REQUIRE(no);
  CHECK(
      has(no->what(), "rank 1 waits in exchange (call 1) for rank 2, which has completed that call without"));
  // A new call starts the count again, and a few answers over a long time do not suffice.
  const call_id later = all.mine.next(operation::exchange);
  all.theirs.next(operation::barrier);
  all.theirs.complete();
  for (int i = 0; i < 7; ++i) {
    status_answer silent = all.theirs.about(100);
    CHECK(!all.known.judge(2, silent, later, start + i * 1s));
  }
}

TEST_CASE("a farewell answers for a rank that has left", "[liveness]") {
  pair_of_ranks all;
  call_id now = all.both(operation::barrier);
  CHECK(!all.known.judge_farewell(2, now, start));
  CHECK(!all.known.has_answered(2, 1));
  CHECK(!all.known.difference(2));
  all.theirs.next(operation::broadcast, 2);
  all.known.take(2, farewell{all.theirs.page});
  CHECK(!all.known.judge_farewell(2, now, start));
  CHECK(all.known.has_answered(2, 1));
  CHECK(has(all.known.difference(2), "1 calls were made here and 2 there"));
  now = all.mine.next(operation::broadcast, 0);
  const auto no = all.known.judge_farewell(2, now, start);
  REQUIRE(no);
  CHECK(has(no->what(), "root 0 against 2"));
  CHECK(has(all.known.difference(2), "call 2 is broadcast with root 0 here and broadcast with root 2 there"));
  // The farewell says nothing about a call that its rank has not made.
  now = all.mine.next(operation::barrier);
  CHECK(!all.known.judge_farewell(2, now, start));
  CHECK(!all.known.has_answered(2, 3));
}

TEST_CASE("a message of another call is a mismatch of the right one, across the wrap of 32 bits",
          "[liveness]") {
  const auto mismatched_call = [](std::uint64_t now, std::uint32_t seen) {
    return peer_calls::mismatched_call({now, 0, operation::barrier}, seen);
  };
  CHECK(mismatched_call(7, 7) == 7);
  CHECK(mismatched_call(7, 5) == 5);
  CHECK(mismatched_call(7, 9) == 7);
  constexpr std::uint64_t wrap = std::uint64_t{1} << 32;
  CHECK(mismatched_call(wrap + 1, 0xffff'fffeU) == wrap - 2);
  CHECK(mismatched_call(wrap - 1, 3) == wrap - 1);
}

TEST_CASE("an unexpected message in a matching call is a mismatch when it is seen twice", "[liveness]") {
  pair_of_ranks all;
  all.both(operation::gather, 0);
  const call_id now = all.both(operation::gather, 0);
  SECTION("an earlier message was left over") {
    all.known.take(2, all.theirs.about(1));
    REQUIRE(all.known.has_answered(2, peer_calls::mismatched_call(now, 1)));
    CHECK(!all.known.compare(2, now, 1));
    const auto no = all.known.compare(2, now, 1);
    REQUIRE(no);
    CHECK(has(no->what(), "call 1 on rank 1 is gather with root 0 as on rank 2"));
    CHECK(has(no->what(), "a message of it was never taken"));
  }
  SECTION("the other has gone on") {
    all.known.take(2, all.theirs.about(2));
    CHECK(!all.known.compare(2, now, 3));
    const auto no = all.known.compare(2, now, 3);
    REQUIRE(no);
    CHECK(has(no->what(), "the other has continued without sending"));
  }
  SECTION("a torn message of this call is looked at again, however often") {
    all.known.take(2, all.theirs.about(2));
    for (int i = 0; i < 5; ++i) CHECK(!all.known.compare(2, now, 2));
  }
  SECTION("nothing is known of the peer") {
    const auto no = all.known.compare(2, now, 2);
    REQUIRE(no);
    CHECK(has(no->what(), "call 2 on rank 1 is gather with root 0, on rank 2 it is another one"));
  }
}

TEST_CASE("a survey asks the lowest ranks first, again every 40 ms, and ends", "[liveness]") {
  stall_survey survey{12, 10, false, start};
  CHECK(survey.is_asked(0));
  CHECK(survey.is_asked(7));
  CHECK(!survey.is_asked(8));
  CHECK(!survey.is_asked(11));
  CHECK(survey.is_time_to_ask(start));
  CHECK(!survey.is_time_to_ask(start + 39ms));
  CHECK(survey.is_time_to_ask(start + 40ms));
  status_answer waits;
  waits.waits_for = status_page::for_any;
  waits.waited_ms = 500;
  survey.take(3, waits);
  CHECK(!survey.is_asked(3));
  CHECK(survey.is_left_to_lower(500ms));
  CHECK(!survey.is_left_to_lower(501ms));
  CHECK(!survey.is_answered(start + 499ms));
  CHECK(survey.is_answered(start + 500ms));
  survey.ask_all(start + 500ms);
  CHECK(survey.is_asked(11));
  CHECK(!survey.is_asked(10));
  CHECK(!survey.is_answered(start + 501ms));
  for (int r = 0; r < 12; ++r) survey.take(r, waits);
  CHECK(survey.is_answered(start + 501ms));
}

TEST_CASE("texts about ranks begin with the awaited ranks, and are limited in length", "[liveness]") {
  status_answer waits;
  waits.waits_for = 4;
  status_answer computes;
  std::vector<chorale::stall_report::rank_state> ranks{state_of(0, waits), state_of(1, std::nullopt),
                                                       state_of(4, computes)};
  const std::string text = describe_ranks(ranks);
  CHECK(text.find("rank 1 has not answered") < text.find("rank 4 computes"));
  CHECK(text.find("rank 4 computes") < text.find("rank 0 waits for rank 4"));
  ranks.resize(11);
  CHECK(has(describe_ranks(ranks), "; and 3 more ranks"));
  CHECK(name_of_awaited(-1) == "any rank");
  std::vector<int> many(20, 7);
  CHECK(has(list_of(many), " and 4 more"));
}

TEST_CASE("farewells tell which calls did not match", "[call]") {
  status_page page;
  std::uint64_t calls = 0;
  const auto next = [&](int root) {
    page.begin(++calls, {.what = operation::broadcast, .root = root});
    return farewell{page};
  };
  const farewell none;
  CHECK(!none.difference(none));
  const farewell one = next(0);
  CHECK(!one.difference(one));
  const farewell two = next(1);
  CHECK(one.difference(two) ==
        "1 calls were made here and 2 there, the last of which is broadcast with root 1");
  CHECK(two.difference(one) ==
        "2 calls were made here and 1 there, the last of which is broadcast with root 1");
  CHECK(none.difference(two) ==
        "0 calls were made here and 2 there, the last of which is broadcast with root 1");
  const farewell three = next(2);
  page.begin(3, {.what = operation::barrier});
  CHECK(three.difference(farewell{page}) ==
        "call 3 is broadcast with root 2 here and barrier there (broadcast against barrier, root 2 against "
        "-1)");
  // The first call that differs, among those that both ranks still know.
  const farewell four = next(3);
  CHECK(four.difference(four) == std::nullopt);
  CHECK(has(three.difference(four), "call 3"));
  const farewell seven = (next(4), next(5), next(6));
  CHECK(has(three.difference(seven), "3 calls were made here and 7 there"));
  farewell nonsense = seven;
  nonsense.current = ~std::uint64_t{0};
  CHECK(has(seven.difference(nonsense), "7 calls were made here"));
  CHECK(has(nonsense.difference(seven), "and 7 there"));
  CHECK(!nonsense.difference(nonsense));
}

TEST_CASE("a rank that leaves by an error need not have made as many calls", "[call]") {
  status_page page;
  const auto after = [&](std::uint64_t calls, int root, bool by_error) {
    for (std::uint64_t n = 1; n <= calls; ++n) page.begin(n, {.what = operation::broadcast, .root = root});
    return farewell{page, by_error};
  };
  const farewell well = after(3, 0, false);
  CHECK(well.difference(after(2, 0, false)).has_value());
  CHECK(!well.difference(after(2, 0, true)));
  CHECK(!after(2, 0, true).difference(well));
  // The calls that both made must still match.
  CHECK(has(*well.difference(after(2, 1, true)), "call 1 is broadcast with root 0 here"));
}
