// SPDX-License-Identifier: Apache-2.0
// Dissemination and pairwise exchange, simulated as barriers: no rank may leave before all have entered.
#include <bitset>
#include <map>
#include <ranges>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/topology/dissemination.hpp>
#include <chorale/topology/pairwise_exchange.hpp>

using chorale::topology::dissemination;
using chorale::topology::pairwise_exchange;

namespace {

using knowledge = std::bitset<65>;
using kind = pairwise_exchange::kind;

static_assert(std::ranges::forward_range<dissemination> && std::ranges::forward_range<pairwise_exchange>);
static_assert(dissemination{0, 5}.size() == 3 && dissemination{0, 5}[2].to == 4 &&
              dissemination{0, 5}[2].from == 1);
static_assert(pairwise_exchange{4, 5}[0].peer == 0 && pairwise_exchange{4, 5}.size() == 2);
static_assert(dissemination{}.empty() && pairwise_exchange{}.empty());

int ceil_log2(int n) {
  int log = 0;
  while ((1LL << log) < n) ++log;
  return log;
}

/// Runs each rank's steps in turn as far as possible; a signal carries its sender's knowledge. Returns the
/// final knowledge of each rank. Fails on a deadlock and on a signal that is sent twice or never awaited.
std::vector<knowledge> play_exchange(int size) {
  std::vector<knowledge> known(static_cast<std::size_t>(size));
  std::map<std::tuple<int, int, int>, knowledge> signals;  // (from, to, index)
  struct state {
    int step = 0;
    bool sent = false;
  };
  std::vector<state> states(static_cast<std::size_t>(size));
  for (int rank = 0; rank < size; ++rank)
    known[static_cast<std::size_t>(rank)].set(static_cast<std::size_t>(rank));
  for (bool moved = true; moved;) {
    moved = false;
    for (int rank = size - 1; rank >= 0; --rank) {
      const pairwise_exchange pattern{rank, size};
      auto& at = states[static_cast<std::size_t>(rank)];
      auto& mine = known[static_cast<std::size_t>(rank)];
      while (at.step < pattern.size()) {
        const auto step = pattern[at.step];
        REQUIRE((step.peer >= 0 && step.peer < size && step.peer != rank));
        REQUIRE((step.index >= 0 && step.index < pairwise_exchange::steps_of(size)));
        if (step.kind != kind::receive && !at.sent) {
          REQUIRE(signals.emplace(std::tuple{rank, step.peer, step.index}, mine).second);
          at.sent = moved = true;
        }
        if (step.kind != kind::send) {
          const auto signal = signals.find({step.peer, rank, step.index});
          if (signal == signals.end()) break;
          mine |= signal->second;
          signals.erase(signal);
        }
        ++at.step;
        at.sent = false;
        moved = true;
      }
    }
  }
  for (int rank = 0; rank < size; ++rank)
    REQUIRE(states[static_cast<std::size_t>(rank)].step == pairwise_exchange(rank, size).size());
  REQUIRE(signals.empty());
  return known;
}

}  // namespace

TEST_CASE("dissemination: every rank has heard from all after the last round, and not before", "[topology]") {
  for (int size = 1; size <= 65; ++size) {
    INFO("size " << size);
    REQUIRE(dissemination::rounds_of(size) == ceil_log2(size));
    std::vector<knowledge> known(static_cast<std::size_t>(size));
    for (std::size_t r = 0; r < known.size(); ++r) known[r].set(r);
    for (int m = 0; m < ceil_log2(size); ++m) {
      const auto before = known;
      std::vector<int> senders(known.size(), -1);
      for (int rank = 0; rank < size; ++rank) {
        const auto round = dissemination{rank, size}[m];
        REQUIRE(round.index == m);
        REQUIRE(round.to == (rank + (1 << m)) % size);
        REQUIRE(senders[static_cast<std::size_t>(round.to)] == -1);  // one signal each
        senders[static_cast<std::size_t>(round.to)] = rank;
      }
      for (int rank = 0; rank < size; ++rank) {
        REQUIRE(before[static_cast<std::size_t>(rank)].count() < static_cast<std::size_t>(size));
        const int from = dissemination{rank, size}[m].from;
        REQUIRE(senders[static_cast<std::size_t>(rank)] == from);
        known[static_cast<std::size_t>(rank)] |= before[static_cast<std::size_t>(from)];
      }
    }
    for (int rank = 0; rank < size; ++rank) {
      REQUIRE(known[static_cast<std::size_t>(rank)].count() == static_cast<std::size_t>(size));
      int rounds = 0;
      for (const auto round : dissemination{rank, size}) REQUIRE(round.index == rounds++);
      REQUIRE(rounds == ceil_log2(size));
    }
  }
}

TEST_CASE("pairwise_exchange: every rank leaves having heard from all, and each signal is awaited once",
          "[topology]") {
  for (int size = 1; size <= 65; ++size) {
    INFO("size " << size);
    for (const auto& known : play_exchange(size)) REQUIRE(known.count() == static_cast<std::size_t>(size));
  }
}

TEST_CASE("pairwise_exchange: log2 N steps for a power of two, floor(log2 N) + 2 for others", "[topology]") {
  for (int size = 1; size <= 65; ++size) {
    int floor_log = 0;
    while ((2LL << floor_log) <= size) ++floor_log;
    const bool power = (1 << floor_log) == size;
    INFO("size " << size);
    REQUIRE(pairwise_exchange::steps_of(size) == floor_log + (power ? 0 : 2));
    int longest = 0;
    for (int rank = 0; rank < size; ++rank) {
      const pairwise_exchange pattern{rank, size};
      longest = std::max(longest, pattern.size());
      if (power)
        for (const auto step : pattern) {
          REQUIRE(step.kind == kind::exchange);
          REQUIRE(step.peer == (rank ^ (1 << step.index)));
        }
    }
    REQUIRE(longest == pairwise_exchange::steps_of(size));
  }
}

TEST_CASE("barrier patterns: a rank outside the group is refused", "[topology]") {
  CHECK_THROWS_WITH(dissemination(3, 3), Catch::Contains("dissemination") && Catch::Contains("rank is 3"));
  CHECK_THROWS_WITH(pairwise_exchange(-1, 3), Catch::Contains("pairwise_exchange"));
}
