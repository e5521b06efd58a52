// SPDX-License-Identifier: Apache-2.0
// Circulant graphs, simulated with the blocks and operands that each rank holds after each round.
#include <bitset>
#include <ranges>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/topology/circulant.hpp>

#include "../support/instrumented.hpp"

namespace topology = chorale::topology;
using topology::circulant;

namespace {

/// With sanitizers smaller groups suffice to execute the same lines.
constexpr int largest = support::instrumented ? 60 : 300;

static_assert(std::ranges::forward_range<circulant> && std::ranges::forward_range<circulant::backwards>);
static_assert(circulant{}.empty() && circulant{0, 1}.size() == 0 && circulant{0, 2}.size() == 1);
static_assert(circulant{0, 11}[2].skip == 3 && circulant{0, 11}[2].blocks == 3 &&
              circulant{0, 11}[2].below == 8);
static_assert((*circulant{0, 11}.reversed().begin()).index == 3);

template <class T>
using table = std::vector<std::vector<T>>;

template <class T>
table<T> filled(int size, T value) {
  return table<T>(static_cast<std::size_t>(size), std::vector<T>(static_cast<std::size_t>(size), value));
}

template <class T>
T& at(table<T>& t, int row, int column) {
  return t[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
}

}  // namespace

TEST_CASE("circulant: skips begin with 1, at most double, and end with the size", "[topology]") {
  for (int size = 2; size <= largest; ++size) {
    INFO("size " << size);
    const int rounds = circulant{0, size}.size();
    REQUIRE((1 << rounds) >= size);
    REQUIRE((1 << (rounds - 1)) < size);
    REQUIRE(circulant::skip(0, size) == 1);
    REQUIRE(circulant::skip(rounds, size) == size);
    for (int m = 0; m < rounds; ++m) {
      const int next = circulant::skip(m + 1, size);
      REQUIRE(circulant::skip(m, size) == (next + 1) / 2);
      REQUIRE(next > circulant::skip(m, size));
    }
  }
}

TEST_CASE("circulant: an allgather fills every place once, with the block of rank + j", "[topology]") {
  for (int size = 1; size <= largest; ++size) {
    auto places = filled<int>(size, -1);
    for (int r = 0; r < size; ++r) at(places, r, 0) = r;
    bool right = true;
    for (int m = 0; m < circulant{0, size}.size(); ++m) {
      auto before = places;
      for (int r = 0; r < size; ++r) {
        const auto round = circulant{r, size}[m];
        const auto peer = circulant{round.above, size}[m];
        right = right && peer.below == r && peer.blocks == round.blocks && round.blocks <= round.skip;
        for (int j = 0; j < round.blocks; ++j) {
          right = right && at(before, round.above, j) != -1 && at(places, r, round.skip + j) == -1;
          at(places, r, round.skip + j) = at(before, round.above, j);
        }
      }
    }
    for (int r = 0; r < size; ++r)
      for (int j = 0; j < size; ++j) right = right && at(places, r, j) == (r + j) % size;
    INFO("size " << size);
    REQUIRE(right);
  }
}

TEST_CASE("circulant: a reduce-scatter combines every operand of a block once", "[topology]") {
  using ranks = std::bitset<largest>;
  for (int size = 1; size <= largest; ++size) {
    // Place j: the ranks whose operands for the block of rank + j are combined there.
    auto places = filled<ranks>(size, {});
    for (int r = 0; r < size; ++r)
      for (int j = 0; j < size; ++j) at(places, r, j).set(static_cast<std::size_t>(r));
    bool right = true;
    for (int i = 0; i < circulant{0, size}.size(); ++i) {
      auto before = places;
      for (int r = 0; r < size; ++r) {
        const auto round = circulant{r, size}.reversed()[i];
        const auto peer = circulant{round.below, size}.reversed()[i];
        right = right && peer.above == r && peer.skip == round.skip;
        for (int j = 0; j < round.blocks; ++j) {
          auto& mine = at(places, r, j);
          auto& theirs = at(before, round.below, round.skip + j);
          right = right && (mine & theirs).none();
          mine |= theirs;
          // Marks blocks that were sent away, which may not be used any more.
          at(places, round.below, round.skip + j).set();
        }
      }
    }
    for (int r = 0; r < size; ++r)
      right = right && at(places, r, 0).count() == static_cast<std::size_t>(size);
    INFO("size " << size);
    REQUIRE(right);
  }
}

TEST_CASE("circulant: distances fit in int for the largest groups", "[topology]") {
  for (const int size : {1 << 30, (1 << 30) - 1, (1 << 29) + 1}) {
    for (const int rank : {0, 1, size / 2, size - 1}) {
      int moved = 0;
      for (const auto round : circulant{rank, size}) {
        REQUIRE((round.above >= 0 && round.above < size && round.below >= 0 && round.below < size));
        moved += round.blocks;
      }
      REQUIRE(moved == size - 1);
    }
  }
}

TEST_CASE("circulant: a rank outside the group is refused", "[topology]") {
  CHECK_THROWS_WITH(circulant(3, 3), Catch::Contains("circulant") && Catch::Contains("rank is 3"));
}
