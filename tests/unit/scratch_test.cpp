// SPDX-License-Identifier: Apache-2.0
// Temporary memory of calls: reused, evicted least recently used first, and never more than promised.
#include <cstddef>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/algorithm/scratch.hpp>

using chorale::kept_scratch;
using chorale::scratch;

TEST_CASE("A call gets the memory that an earlier one has returned", "[scratch]") {
  kept_scratch kept;
  const std::byte* first = nullptr;
  {
    const scratch one{kept, 5000};
    REQUIRE(one.memory().size() == 5000);
    first = one.memory().data();
    const scratch meanwhile{kept, 5000};
    REQUIRE(meanwhile.memory().data() != first);
  }
  const scratch shorter{kept, 100};
  const scratch same{kept, 5000};
  CHECK(shorter.memory().size() == 100);
  CHECK((shorter.memory().data() == first || same.memory().data() == first));
}

TEST_CASE("The smallest memory that suffices is taken", "[scratch]") {
  kept_scratch kept;
  std::vector<kept_scratch::buffer> taken;
  for (const std::size_t bytes : {3000U, 1000U, 2000U}) taken.push_back(kept.take(bytes));
  for (auto& one : taken) kept.give_back(std::move(one));
  CHECK(kept.take(1500).bytes == 2000);
  CHECK(kept.take(1500).bytes == 3000);
  CHECK(kept.take(1500).bytes == 1500);
  CHECK(kept.take(1500).bytes == 1500);
  CHECK(kept.take(10).bytes == 1000);
}

TEST_CASE("What was returned longest ago goes first", "[scratch]") {
  constexpr std::size_t third = kept_scratch::most_bytes / 3;
  kept_scratch kept;
  std::vector<kept_scratch::buffer> taken;
  for (int i = 0; i < 4; ++i) taken.push_back(kept.take(third - static_cast<std::size_t>(i)));
  for (auto& one : taken) kept.give_back(std::move(one));
  std::vector<std::size_t> left;
  for (int i = 0; i < 4; ++i) left.push_back(kept.take(third - 3).bytes);
  CHECK(left == std::vector<std::size_t>{third - 3, third - 2, third - 1, third - 3});
  kept.give_back(kept.take(kept_scratch::most_bytes + 1));
  CHECK(kept.take(1).bytes == 1);
  taken.clear();
  for (std::size_t i = 1; i <= 9; ++i) taken.push_back(kept.take(i));
  for (auto& one : taken) kept.give_back(std::move(one));
  CHECK(kept.take(1).bytes == 2);
}

TEST_CASE("Memory that is moved is returned once", "[scratch]") {
  kept_scratch kept;
  const std::byte* const first = scratch{kept, 64}.memory().data();
  {
    scratch one{kept, 64};
    scratch other{std::move(one)};
    scratch none;
    CHECK(other.memory().data() == first);
    none = std::move(other);
    CHECK(none.memory().size() == 64);
  }
  const scratch again{kept, 64};
  const scratch another{kept, 64};
  CHECK(again.memory().data() == first);
  CHECK(another.memory().data() != first);
}
