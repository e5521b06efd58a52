// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/operator_tag.hpp>
#include <chorale/core/placed.hpp>
#include <chorale/core/reduction.hpp>

using chorale::max_at;
using chorale::min_at;
using chorale::placed;
using chorale::reduction_operator;

static_assert(reduction_operator<chorale::min_at_t, placed<double>>);
static_assert(reduction_operator<chorale::max_at_t, std::pair<float, int>>);
static_assert(reduction_operator<chorale::max_at_t, placed<std::pair<int, int>>>);
static_assert(!reduction_operator<chorale::max_at_t, double>);
static_assert(!reduction_operator<chorale::max_at_t, std::pair<int, double>>);
static_assert(!reduction_operator<chorale::max_at_t, std::pair<int, bool>>);
static_assert(!reduction_operator<chorale::min_at_t, placed<std::string>>);
static_assert(!reduction_operator<chorale::min_at_t, placed<std::complex<double>>>);  // no order
static_assert(chorale::commutes<chorale::min_at_t, placed<double>>);
static_assert(chorale::commutes<chorale::max_at_t, std::pair<float, int>>);
static_assert(!chorale::commutes<chorale::max_at_t, placed<std::pair<int, int>>>);
static_assert(placed{1.5, 3} == placed<double>{1.5, 3});

TEST_CASE("minimum and maximum with place: equal values give the smaller place", "[operators]") {
  STATIC_REQUIRE(min_at(placed{2, 7}, placed{3, 1}) == placed{2, 7});
  STATIC_REQUIRE(min_at(placed{3, 7}, placed{2, 9}) == placed{2, 9});
  STATIC_REQUIRE(max_at(placed{2, 7}, placed{3, 1}) == placed{3, 1});
  STATIC_REQUIRE(max_at(placed{3, 7}, placed{2, 1}) == placed{3, 7});
  for (const auto& op : {std::pair{placed{5, 4}, placed{5, 2}}, std::pair{placed{5, 2}, placed{5, 4}}}) {
    CHECK(min_at(op.first, op.second) == placed{5, 2});
    CHECK(max_at(op.first, op.second) == placed{5, 2});
  }
  using unsigned_place = std::pair<int, std::uint64_t>;
  constexpr auto far = std::numeric_limits<std::uint64_t>::max();
  CHECK(min_at(unsigned_place{1, far}, unsigned_place{1, 0}) == unsigned_place{1, 0});
  CHECK(max_at(unsigned_place{1, 0}, unsigned_place{1, far}) == unsigned_place{1, 0});
  CHECK(max_at(std::pair{-0.0, 1}, std::pair{0.0, 0}).second == 0);
  CHECK(min_at(std::pair{-0.0, 1}, std::pair{0.0, 0}).second == 0);
}

TEST_CASE("minimum and maximum with place: a NaN is found", "[operators]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double other : {1.0, infinity, -infinity}) {
    CHECK(min_at(placed{nan, 5}, placed{other, 1}).place == 5);
    CHECK(min_at(placed{other, 1}, placed{nan, 5}).place == 5);
    CHECK(max_at(placed{nan, 5}, placed{other, 1}).place == 5);
    CHECK(max_at(placed{other, 1}, placed{nan, 5}).place == 5);
  }
  CHECK(min_at(placed{nan, 5}, placed{nan, 1}).place == 1);
  CHECK(max_at(placed{nan, 1}, placed{nan, 5}).place == 1);
}

TEST_CASE("minimum and maximum with place: any order and association gives std::min_element", "[operators]") {
  const auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random{seed};
  for (int round = 0; round < 200; ++round) {
    std::vector<placed<int>> all;
    for (int i = 0; i < 13; ++i)
      all.push_back({static_cast<int>(random() % 4), static_cast<std::int64_t>(random() % 100) - 50});
    const auto smallest = *std::min_element(all.begin(), all.end(), [](auto& a, auto& b) {
      return std::pair{a.value, a.place} < std::pair{b.value, b.place};
    });
    const auto largest = *std::min_element(all.begin(), all.end(), [](auto& a, auto& b) {
      return std::pair{-a.value, a.place} < std::pair{-b.value, b.place};
    });
    auto low = all, high = all;
    while (low.size() > 1) {  // any two neighbours, in either order
      const std::size_t i = random() % (low.size() - 1);
      const bool swap = random() % 2 == 0;
      const auto at = static_cast<std::ptrdiff_t>(i);
      low[i] = min_at(low[i + (swap ? 1 : 0)], low[i + (swap ? 0 : 1)]);
      high[i] = max_at(high[i + (swap ? 1 : 0)], high[i + (swap ? 0 : 1)]);
      low.erase(low.begin() + at + 1);
      high.erase(high.begin() + at + 1);
    }
    REQUIRE(low[0] == smallest);
    REQUIRE(high[0] == largest);
  }
}
