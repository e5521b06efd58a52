// SPDX-License-Identifier: Apache-2.0
// k-way dissemination, simulated as a barrier.
#include <bitset>
#include <set>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/error.hpp>
#include <chorale/topology/dissemination.hpp>
#include <chorale/topology/dissemination_k.hpp>

using chorale::topology::dissemination;
using chorale::topology::dissemination_k;

namespace {
static_assert(dissemination_k{}.empty());
static_assert(dissemination_k{0, 16, 3}.size() == 2 && dissemination_k{0, 17, 3}.size() == 3);
static_assert(dissemination_k{1, 16, 3}[1].to(2) == 13 && dissemination_k{1, 16, 3}[1].from(0) == 13);
}  // namespace

TEST_CASE("after the last round every rank has heard from all", "[topology][dissemination]") {
  for (const int k : {1, 2, 3, 5, 7, 15}) {
    for (int size = 1; size <= 65; ++size) {
      INFO("k " << k << ", size " << size);
      const auto n = static_cast<std::size_t>(size);
      std::vector<std::bitset<65>> known(n);
      for (std::size_t r = 0; r < n; ++r) known[r].set(r);
      const int rounds = dissemination_k{0, size, k}.size();
      for (int m = 0; m < rounds; ++m) {
        auto next = known;
        for (int rank = 0; rank < size; ++rank) {
          const auto round = dissemination_k{rank, size, k}[m];
          REQUIRE(round.count() <= k);
          REQUIRE(round.count() >= 1);
          for (int j = 0; j < round.count(); ++j) {
            next[static_cast<std::size_t>(round.to(j))] |= known[static_cast<std::size_t>(rank)];
            // The receiver waits for it as its message with the same index.
            REQUIRE(dissemination_k{round.to(j), size, k}[m].from(j) == rank);
          }
        }
        known = next;
      }
      for (std::size_t r = 0; r < n; ++r) REQUIRE(known[r].count() == n);
    }
  }
}

TEST_CASE("a rank signals another at most once", "[topology][dissemination]") {
  for (const int k : {1, 2, 3, 7, 31}) {
    for (int size = 1; size <= 65; ++size) {
      std::multiset<int> heard;
      for (const auto round : dissemination_k{size / 3, size, k})
        for (int j = 0; j < round.count(); ++j) heard.insert(round.from(j));
      for (const int peer : heard) {
        REQUIRE(heard.count(peer) == 1);
        REQUIRE(peer != size / 3);
      }
    }
  }
}

TEST_CASE("k = 1 is dissemination", "[topology][dissemination]") {
  for (int size = 1; size <= 33; ++size) {
    const dissemination one{size - 1, size};
    const dissemination_k other{size - 1, size, 1};
    REQUIRE(one.size() == other.size());
    for (int m = 0; m < one.size(); ++m) {
      REQUIRE(other[m].count() == 1);
      REQUIRE(other[m].to(0) == one[m].to);
      REQUIRE(other[m].from(0) == one[m].from);
    }
  }
}

TEST_CASE("degrees below 1 are refused", "[topology][dissemination]") {
  CHECK_THROWS_AS((dissemination_k{0, 4, 0}), chorale::error);
  CHECK_THROWS_AS((dissemination_k{0, 4, -3}), chorale::error);
}
