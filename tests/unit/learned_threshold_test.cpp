// SPDX-License-Identifier: Apache-2.0
#include <chorale/algorithm/exchange/learned_threshold.hpp>

// The decisions of the calls of an exchange, with work that takes a given time.
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/clock.hpp>

namespace {

using namespace std::chrono_literals;
using chorale::exchange::cost_of_ways;
using chorale::exchange::learned_threshold;
using chorale::exchange::straight_sizes;
using chorale::exchange::threshold_of_call;

constexpr straight_sizes sizes{.usual = 65536, .least = 16384, .sure = 262145};
constexpr int me = 1;
const std::vector<std::byte> memory(300'000);

struct set_time final : chorale::time_source {
  chorale::clock::time_point present{1h};
  chorale::clock::time_point now() noexcept override { return present; }
  void give_way() noexcept override {}
  void sleep_until(chorale::clock::time_point) noexcept override {}
};

/// The time that work on 64 KiB takes.
struct times {
  chorale::clock::duration send;
  chorale::clock::duration take;
  chorale::clock::duration read;
};

/// Makes `calls` calls of rank `me`, which sends messages of `bytes` bytes to `peer` and receives some of
/// 64 KiB in the same way. Returns the ways: b by blocks, s straight.
std::string ways_of(learned_threshold& learned, int calls, const std::vector<std::size_t>& bytes,
                    const times& take, int peer = 0) {
  set_time time;
  const chorale::replaced_clock guard{time};
  std::vector<chorale::outgoing> sends;
  for (const std::size_t each : bytes)
    sends.push_back({peer, {static_cast<const std::byte*>(nullptr), each}});
  std::string ways;
  for (int i = 0; i < calls; ++i) {
    threshold_of_call threshold{sizes, me, sends, learned, 0, 8192};
    const auto work = [&](cost_of_ways::work what, std::size_t on, chorale::clock::duration took) {
      const auto watch = threshold.time(what, on);
      time.present += took;
      watch.end();
    };
    const std::size_t from = threshold.straight_from();
    if (from <= bytes.front()) {
      ways += 's';
      work(cost_of_ways::work::read, 65536, take.read);
    } else {
      ways += 'b';
      for (int piece = 0; piece < 8; ++piece) {
        work(cost_of_ways::work::send, 8192, take.send / 8);
        work(cost_of_ways::work::take, 8192, take.take / 8);
      }
    }
    // Neither short pieces nor messages of other sizes count.
    work(cost_of_ways::work::send, 4095, 1s);
    work(cost_of_ways::work::take, 100, 1s);
    work(cost_of_ways::work::read, 131072, 0s);
    threshold.end();
  }
  return ways;
}

}  // namespace

TEST_CASE("the work of a rank decides how its messages go", "[learned_threshold]") {
  learned_threshold blocks;
  CHECK(ways_of(blocks, 8, {65536}, {1us, 2us, 6us}) == "ssbbbbbb");
  learned_threshold straight;
  CHECK(ways_of(straight, 8, {65536}, {3us, 2us, 4us}) == "ssbbssss");
  // Reads of messages of another power of two say nothing about these.
  CHECK(ways_of(straight, 8, {65535}, {8us, 8us, 1us}) == "ssbbbbbb");
}

TEST_CASE("the longest message that may go either way decides for all", "[learned_threshold]") {
  learned_threshold learned;
  CHECK(ways_of(learned, 6, {65536, 20'000, 262'145, 8}, {1us, 2us, 6us}) == "ssbbbb");
  learned_threshold longest;
  CHECK(ways_of(longest, 4, {262'144}, {1us, 2us, 6us}) == "ssbb");
}

TEST_CASE("messages of other sizes, or to this rank, keep to the threshold", "[learned_threshold]") {
  learned_threshold learned;
  CHECK(ways_of(learned, 6, {16'383}, {1us, 2us, 6us}) == "bbbbbb");
  CHECK(ways_of(learned, 6, {262'145}, {1us, 2us, 6us}) == "ssssss");
  CHECK(ways_of(learned, 6, {65536}, {1us, 2us, 6us}, me) == "ssssss");
  const straight_sizes fixed{.usual = 65536, .least = 65536, .sure = 65536};
  const std::vector<chorale::outgoing> sends{{0, {memory.data(), 65536}}};
  for (int i = 0; i < 4; ++i)
    CHECK(threshold_of_call(fixed, me, sends, learned, 256, 8192).straight_from() == 65536);
}

TEST_CASE("messages go by blocks, which are not timed, until all blocks have been used",
          "[learned_threshold]") {
  learned_threshold learned;
  const std::vector<chorale::outgoing> sends{{0, {memory.data(), 65536}}, {2, {memory.data(), 20'000}}};
  std::string ways;
  for (int i = 0; i < 15; ++i) {
    threshold_of_call threshold{sizes, me, sends, learned, 27, 8192};
    ways += threshold.straight_from() <= 65536 ? 's' : 'b';
    // The costs of the first three calls do not count: with them, blocks would be cheaper.
    set_time time;
    const chorale::replaced_clock guard{time};
    const auto work = [&](cost_of_ways::work what, chorale::clock::duration took) {
      const auto watch = threshold.time(what, 65536);
      time.present += took;
      watch.end();
    };
    work(cost_of_ways::work::send, i < 3 ? 1us : 9us);
    work(cost_of_ways::work::take, 1us);
    work(cost_of_ways::work::read, 6us);
    threshold.end();
  }
  // A call uses nine blocks; in eight calls all of them are used twice.
  CHECK(ways == "bbbssbbbbbbbbss");
}
