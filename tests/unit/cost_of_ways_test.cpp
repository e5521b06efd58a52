// SPDX-License-Identifier: Apache-2.0
#include <chorale/algorithm/exchange/cost_of_ways.hpp>

// Learning whether messages of an exchange cost less by blocks or straight.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include <catch2/catch.hpp>

namespace {

using namespace std::chrono_literals;
using chorale::exchange::cost_of_ways;

/// Serves `calls` calls with a message of 64 KiB each way, which cost what is given, and returns their ways:
/// b by blocks, s straight. `turns`: the most calls of a trial of blocks.
std::string serve(cost_of_ways& costs, int calls, bool usually_by_blocks, chorale::clock::duration send,
                  chorale::clock::duration take, chorale::clock::duration read, std::uint64_t turns = 2) {
  std::string ways;
  for (int i = 0; i < calls; ++i) {
    const auto [by_blocks, is_timed] = costs.next(usually_by_blocks, turns);
    ways += by_blocks ? 'b' : 's';
    if (!is_timed) continue;
    if (by_blocks) {
      costs.record(cost_of_ways::work::send, 65536, send);
      costs.record(cost_of_ways::work::take, 65536, take);
    } else {
      costs.record(cost_of_ways::work::read, 65536, read);
    }
  }
  return ways;
}

}  // namespace

TEST_CASE("the first messages go both ways, later ones the one that costs less", "[cost_of_ways]") {
  cost_of_ways near;
  CHECK(serve(near, 12, false, 1us, 2us, 6us) == "ssbbbbbbbbbb");
  cost_of_ways far;
  CHECK(serve(far, 12, false, 4us, 3us, 6us) == "ssbbssssssss");
}

TEST_CASE("messages that usually go by blocks go straight if that costs less than two thirds",
          "[cost_of_ways]") {
  cost_of_ways little;
  CHECK(serve(little, 8, true, 5us, 3us, 6us) == "ssbbbbbb");
  cost_of_ways much;
  CHECK(serve(much, 8, true, 6us, 4us, 6us) == "ssbbssss");
}

TEST_CASE("a trial of blocks is longer if they cost less than three times as much, and the next one later",
          "[cost_of_ways]") {
  cost_of_ways close;
  CHECK(serve(close, 14, false, 7us, 4us, 6us, 10) == "ssbbbbbbbbbbss");
  const std::string later = serve(close, 127 * 10 + 8, false, 7us, 4us, 6us, 10);
  CHECK(later.find('b') == 127 * 10 - 2);
  CHECK(later.ends_with("sbbbbbbbbbb"));
  cost_of_ways dear;
  CHECK(serve(dear, 14, false, 14us, 4us, 6us, 10) == "ssbbssssssssss");
  cost_of_ways at_first;
  CHECK(serve(at_first, 5, false, 7us, 4us, 6us, 10) == "ssbbb");
  CHECK(serve(at_first, 10, false, 1us, 2us, 6us, 10) == "bbbbbbbbbb");
  // Calls that turned out to go the cheaper way do not postpone the next trial.
  CHECK(serve(at_first, 300, false, 1us, 2us, 6us, 10).find('s') == 6 + 2 * 127 - 15);
}

TEST_CASE("two calls of every 256 go the dearer way, and one in seventeen is timed", "[cost_of_ways]") {
  cost_of_ways costs;
  const std::string ways = serve(costs, 3 * 256, false, 1us, 2us, 6us);
  for (std::size_t call = 4; call < ways.size(); ++call) {
    INFO("call " << call);
    CHECK(ways[call] == (call % 256 == 2 || call % 256 == 3 ? 's' : 'b'));
  }
  serve(costs, 16, false, 1us, 2us, 6us);
  int timed = 0;
  for (int i = 0; i < 150; ++i) timed += costs.next(false).is_timed ? 1 : 0;
  CHECK(timed == 8);
}

TEST_CASE("what is dear once does not change the way, what stays dear does", "[cost_of_ways]") {
  cost_of_ways costs;
  serve(costs, 10, false, 1us, 2us, 6us);
  costs.record(cost_of_ways::work::send, 65536, 1s);
  CHECK(costs.by_blocks(false));
  CHECK(serve(costs, 200, false, 4us, 4us, 6us).ends_with("sss"));
}

TEST_CASE("a way whose cost is not known yet is not compared", "[cost_of_ways]") {
  cost_of_ways costs;
  costs.record(cost_of_ways::work::send, 65536, 1us);
  costs.record(cost_of_ways::work::read, 65536, 6us);
  CHECK_FALSE(costs.by_blocks(false));
  CHECK(costs.by_blocks(true));
  costs.record(cost_of_ways::work::take, 32768, 1us);
  CHECK(costs.by_blocks(false));
  costs.record(cost_of_ways::work::read, 65536, -1us);
  CHECK_FALSE(costs.by_blocks(true));
}

TEST_CASE("a peer's tries in any call of a round are seen", "[cost_of_ways]") {
  for (int apart = 0; apart < 256; ++apart) {
    // This rank learns what taking costs only from blocks that a peer sends, which does so when it tries.
    cost_of_ways mine;
    cost_of_ways peers;
    for (int i = 0; i < apart; ++i) static_cast<void>(peers.next(false));
    bool has_learnt = false;
    for (int call = 0; call < 20 * 256 && !has_learnt; ++call) {
      const auto [by_blocks, is_timed] = mine.next(false);
      const auto theirs = peers.next(false);
      if (is_timed && by_blocks) mine.record(cost_of_ways::work::send, 65536, 1us);
      if (is_timed && theirs.by_blocks) mine.record(cost_of_ways::work::take, 65536, 1us);
      if (is_timed && !theirs.by_blocks) mine.record(cost_of_ways::work::read, 65536, 6us);
      has_learnt = mine.by_blocks(false);
    }
    INFO(apart << " calls ahead");
    CHECK(has_learnt);
  }
}
