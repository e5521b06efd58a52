// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/places.hpp>

#include "../../lib/core/virtual_places.hpp"
#include "../support/seed.hpp"

using chorale::places;
using chorale::detail::virtual_places;

TEST_CASE("places list their ranks", "[places]") {
  std::mt19937 random{static_cast<unsigned>(support::seed())};
  INFO("seed " << support::seed());
  for (const int size : {1, 2, 3, 5, 7, 13, 16, 17, 33}) {
    for (int round = 0; round < 20; ++round) {
      std::vector<int> of;
      int known = 0;
      for (int r = 0; r < size; ++r) {
        of.push_back(std::uniform_int_distribution{0, known}(random));
        known = std::max(known, of.back() + 1);
      }
      if (round % 2 == 1) std::sort(of.begin(), of.end());
      const places layout{of};
      REQUIRE(layout.ranks() == size);
      REQUIRE(layout.count() == known);
      std::vector<int> order;
      std::size_t largest = 0;
      std::size_t smallest = of.size();
      for (int place = 0; place < known; ++place) {
        std::vector<int> members;
        for (int r = 0; r < size; ++r)
          if (of[static_cast<std::size_t>(r)] == place) members.push_back(r);
        const auto listed = layout.members(place);
        REQUIRE(std::vector<int>(listed.begin(), listed.end()) == members);
        order.insert(order.end(), members.begin(), members.end());
        largest = std::max(largest, members.size());
        smallest = std::min(smallest, members.size());
      }
      REQUIRE(std::vector<int>(layout.order().begin(), layout.order().end()) == order);
      REQUIRE(layout.largest() == static_cast<int>(largest));
      REQUIRE(layout.smallest() == static_cast<int>(smallest));
      REQUIRE(layout.are_equal() == (smallest == largest));
      REQUIRE(layout.are_contiguous() == std::is_sorted(order.begin(), order.end()));
      for (int r = 0; r < size; ++r) REQUIRE(layout.of(r) == of[static_cast<std::size_t>(r)]);
    }
  }
  const places none;
  CHECK(none.count() == 0);
  CHECK(none.ranks() == 0);
  CHECK(none.largest() == 0);
  CHECK(none.smallest() == 0);
}

TEST_CASE("layouts are read", "[places]") {
  const auto read = [](const char* text) {
    const auto given = virtual_places::read(text);
    REQUIRE(given);
    std::vector<int> of;
    for (int r = 0; r < given->ranks(); ++r) of.push_back(given->of(r));
    return of;
  };
  CHECK(read("2x3") == std::vector<int>{0, 0, 0, 1, 1, 1});
  CHECK(read("2x3c") == std::vector<int>{0, 1, 0, 1, 0, 1});
  CHECK(read("3,1,2") == std::vector<int>{0, 0, 0, 1, 2, 2});
  CHECK(read("4") == std::vector<int>{0, 0, 0, 0});
  CHECK(read("1x1") == std::vector<int>{0});
  for (const char* text : {"",     "x",     "4x",          "x4",       "0x4",         "4x0",        "-1x4",
                           "4x4d", "4x4cc", "3,",          ",3",       "3,,1",        "3,0",        "3,1c",
                           "4 x4", "4x4 ",  "99999999999", "16777217", "65536x65536", "16777216,1", "3;1"}) {
    INFO(text);
    CHECK_FALSE(virtual_places::read(text));
  }
}
