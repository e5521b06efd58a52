// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <ranges>
#include <string>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/topology/recursive_doubling.hpp>

using chorale::topology::rank_range;
using chorale::topology::recursive_doubling;

namespace {

using kind = recursive_doubling::kind;

static_assert(std::ranges::forward_range<recursive_doubling>);
static_assert(recursive_doubling{1, 3}[0].kind == kind::send_operand &&
              recursive_doubling{1, 3}[0].peer == 0);
static_assert(recursive_doubling{0, 3}[1].peer == 2 && !recursive_doubling{0, 3}[1].peer_is_left());
static_assert(recursive_doubling{}.empty());

std::string text(int first, int last) {
  std::string s;
  for (int r = first; r < last; ++r) s += std::to_string(r) + ",";
  return s;
}

std::string text(const rank_range& range) {
  return text(range.first, range.first + range.count);
}

/// Simulates an allreduce with concatenation, an operator that shows its order. Returns each rank's result.
std::vector<std::string> play(int size) {
  struct state {
    std::string held;
    int step = 0;
    bool sent = false;
  };
  std::vector<state> ranks(static_cast<std::size_t>(size));
  for (int r = 0; r < size; ++r) ranks[static_cast<std::size_t>(r)].held = text(r, r + 1);
  std::map<std::tuple<int, int, int>, std::string> messages;  // (from, to, index)
  for (bool moved = true; moved;) {
    moved = false;
    for (int rank = 0; rank < size; ++rank) {
      auto& at = ranks[static_cast<std::size_t>(rank)];
      const recursive_doubling pattern{rank, size};
      while (at.step < pattern.size()) {
        const auto step = pattern[at.step];
        INFO("size " << size << " rank " << rank << " step " << at.step);
        REQUIRE((step.peer >= 0 && step.peer < size && step.peer != rank));
        REQUIRE((step.index >= 0 && step.index < recursive_doubling::steps_of(size)));
        const bool sends =
            step.kind == kind::exchange || step.kind == kind::send_operand || step.kind == kind::send_result;
        const bool receives = step.kind == kind::exchange || step.kind == kind::receive_operand ||
                              step.kind == kind::receive_result;
        REQUIRE(sends == (step.sent.count > 0));
        REQUIRE(receives == (step.received.count > 0));
        if (sends && !at.sent) {
          REQUIRE(text(step.sent) == at.held);
          REQUIRE(messages.emplace(std::tuple{rank, step.peer, step.index}, at.held).second);
          at.sent = moved = true;
        }
        if (receives) {
          const auto message = messages.find({step.peer, rank, step.index});
          if (message == messages.end()) break;
          REQUIRE(text(step.received) == message->second);
          if (step.kind == kind::receive_result)
            at.held = message->second;
          else
            at.held = step.peer_is_left() ? message->second + at.held : at.held + message->second;
          messages.erase(message);
        }
        ++at.step;
        at.sent = false;
        moved = true;
      }
    }
  }
  REQUIRE(messages.empty());
  std::vector<std::string> held;
  for (int r = 0; r < size; ++r) {
    REQUIRE(ranks[static_cast<std::size_t>(r)].step == recursive_doubling(r, size).size());  // no deadlock
    held.push_back(ranks[static_cast<std::size_t>(r)].held);
  }
  return held;
}

}  // namespace

TEST_CASE("recursive_doubling: concatenation gives 0,1,...,n-1 on every rank of every size", "[topology]") {
  for (int size = 1; size <= 65; ++size) {
    INFO("size " << size);
    for (const auto& held : play(size)) REQUIRE(held == text(0, size));
  }
}

TEST_CASE("recursive_doubling: sizes that are a power of two exchange with rank xor 2^m only", "[topology]") {
  for (int size = 1; size <= 64; size *= 2) {
    for (int rank = 0; rank < size; ++rank) {
      int m = 0;
      for (const auto step : recursive_doubling{rank, size}) {
        REQUIRE(step.kind == kind::exchange);
        REQUIRE(step.index == m);
        REQUIRE(step.peer == (rank ^ (1 << m)));
        REQUIRE(step.peer_is_left() == (step.peer < rank));
        ++m;
      }
      REQUIRE((1 << m) == size);
    }
  }
}

TEST_CASE("recursive_doubling: the longest rank has steps_of(size) steps", "[topology]") {
  for (int size = 1; size <= 65; ++size) {
    int floor_log = 0;
    while ((2LL << floor_log) <= size) ++floor_log;
    int longest = 0;
    for (int rank = 0; rank < size; ++rank)
      longest = std::max(longest, recursive_doubling(rank, size).size());
    REQUIRE(longest == floor_log + ((1 << floor_log) == size ? 0 : 2));
    REQUIRE(longest == recursive_doubling::steps_of(size));
  }
}

TEST_CASE("recursive_doubling: ranges fit in int for the largest groups", "[topology]") {
  for (const int size : {1 << 30, (1 << 30) - 1, (1 << 29) + 1}) {
    for (const int rank : {0, 1, size / 2, size - 1}) {
      for (const auto step : recursive_doubling{rank, size}) {
        INFO("size " << size << " rank " << rank << " peer " << step.peer);
        REQUIRE((step.peer >= 0 && step.peer < size));
        REQUIRE(step.received.first >= 0);
        REQUIRE(step.received.first <= size - step.received.count);
        REQUIRE(step.sent.first <= size - step.sent.count);
      }
    }
  }
}

TEST_CASE("recursive_doubling: a rank outside the group is refused", "[topology]") {
  CHECK_THROWS_WITH(recursive_doubling(3, 3),
                    Catch::Contains("recursive_doubling") && Catch::Contains("rank is 3"));
}
