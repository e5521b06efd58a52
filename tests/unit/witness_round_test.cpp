// SPDX-License-Identifier: Apache-2.0
// Which ranks are asked about a peer whose process has ended: answers in, ranks out.
#include "../../lib/transport/liveness/witness_round.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include <catch2/catch.hpp>

using chorale::transport::witness_round;

namespace {

/// The ranks of a group that are gone, and those that never answer.
struct group {
  int size;
  std::set<int> gone;
  std::set<int> mute;
};

/// What a rank has heard once it asks no one, or only ranks that do not answer.
struct answers {
  std::multiset<int> denied;
  bool is_over = false;
};

answers ask_all(witness_round& asked, const group& g) {
  const auto is_gone = [&](int rank) { return g.gone.contains(rank); };
  answers heard;
  for (int round = 0; round < g.size + 1; ++round) {
    const std::vector<int> ranks = asked.next(is_gone);
    CHECK(ranks.size() <= witness_round::at_once);
    heard.is_over = ranks.empty();
    for (const int rank : ranks) {
      CHECK_FALSE(g.gone.contains(rank));
      if (g.mute.contains(rank)) continue;
      heard.denied.insert(rank);
      asked.deny(rank);
    }
  }
  return heard;
}

}  // namespace

TEST_CASE("a peer has no farewell anywhere once each living rank has said so, and each is asked once",
          "[liveness]") {
  const int size = GENERATE(2, 3, 5, 8, 33, 64, 65, 66, 200, 1000);
  const int rank = GENERATE_COPY(0, 1, size / 2, size - 1);
  const int dead = (rank + 1 + size / 3) % size;
  CAPTURE(size, rank, dead);
  if (dead == rank) return;
  witness_round asked{dead, rank, size};
  CHECK(asked.peer() == dead);
  const group g{size, {dead}, {}};
  const answers heard = ask_all(asked, g);
  CHECK(heard.is_over);
  std::multiset<int> expected;
  for (int r = 0; r < size; ++r)
    if (r != rank && r != dead) expected.insert(r);
  CHECK(heard.denied == expected);
}

TEST_CASE("a rank without an answer keeps the question open until it is gone", "[liveness]") {
  witness_round asked{0, 5, 100};
  group g{100, {0, 7, 8}, {50}};
  CHECK_FALSE(ask_all(asked, g).is_over);
  CHECK(asked.next([&](int rank) { return g.gone.contains(rank); }) == std::vector{50});
  g.gone.insert(50);
  CHECK(ask_all(asked, g).is_over);
}

TEST_CASE("answers count once, and only from ranks that may be asked now", "[liveness]") {
  const auto is_gone = [](int rank) { return rank == 1; };
  witness_round asked{1, 0, 200};
  asked.deny(0);
  asked.deny(1);
  asked.deny(150);
  asked.deny(3);
  asked.deny(3);
  CHECK(asked.next(is_gone) == std::vector{2, 4, 5, 6, 7, 8, 9, 10});
  for (int rank = 2; rank < 140; ++rank) {
    asked.deny(rank);
    (void)asked.next(is_gone);
  }
  CHECK(asked.next(is_gone).front() == 140);
  asked.deny(141);
  CHECK(asked.next(is_gone) == std::vector{140, 142, 143, 144, 145, 146, 147, 148});
}
