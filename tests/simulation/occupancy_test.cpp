// SPDX-License-Identifier: Apache-2.0
// Busy times, against a list of all picoseconds.
#include "simulation/network/occupancy.hpp"

#include <cstdint>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "../support/seed.hpp"

using chorale::simulation::duration;
using chorale::simulation::instant;
using chorale::simulation::occupancy;

namespace {

/// A reference with a flag for each picosecond.
class by_picosecond {
 public:
  std::int64_t take(std::int64_t from, std::int64_t length) {
    while (!is_free(from, length)) ++from;
    for (auto at = from; at < from + length; ++at) taken_[static_cast<std::size_t>(at)] = true;
    return from;
  }

 private:
  [[nodiscard]] bool is_free(std::int64_t from, std::int64_t length) const {
    for (auto at = from; at < from + length; ++at)
      if (was_taken(at)) return false;
    return true;
  }
  [[nodiscard]] bool was_taken(std::int64_t at) const { return taken_[static_cast<std::size_t>(at)]; }

  std::vector<bool> taken_ = std::vector<bool>(100'000);
};

}  // namespace

TEST_CASE("Time is given once, as early as the length fits", "[simulation]") {
  std::mt19937 draw{static_cast<std::uint32_t>(support::seed())};
  for (int round = 0; round < 50; ++round) {
    occupancy one;
    by_picosecond other;
    std::int64_t all = 0;
    std::int64_t over = 0;
    for (int i = 0; i < 200; ++i) {
      // No later call concerns times before `over`, which may be forgotten at any time.
      if (draw() % 10 == 0) over += draw() % 100;
      if (draw() % 3 == 0) one.forget(instant{duration{over}});
      const auto from = over + static_cast<std::int64_t>(draw() % 400);
      const auto length = 1 + static_cast<std::int64_t>(draw() % 20);
      all += length;
      REQUIRE(one.take(instant{duration{from}}, duration{length}).time_since_epoch().count() ==
              other.take(from, length));
    }
    REQUIRE(one.taken().count() == all);
  }
}

TEST_CASE("A length of zero waits for intervals that are busy", "[simulation]") {
  occupancy one;
  REQUIRE(one.take(instant{duration{100}}, duration{50}) == instant{duration{100}});
  REQUIRE(one.take(instant{duration{120}}, duration{}) == instant{duration{150}});
  REQUIRE(one.take(instant{duration{99}}, duration{}) == instant{duration{99}});
  REQUIRE(one.take(instant{duration{150}}, duration{}) == instant{duration{150}});
  REQUIRE(one.taken() == duration{50});
}
