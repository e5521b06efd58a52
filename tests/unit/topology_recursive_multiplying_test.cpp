// SPDX-License-Identifier: Apache-2.0
// Recursive multiplying, simulated with the operands that each rank holds after each round.
#include <ranges>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/topology/recursive_multiplying.hpp>

using chorale::topology::rank_range;
using chorale::topology::recursive_multiplying;

namespace {

static_assert(std::ranges::forward_range<recursive_multiplying>);
static_assert(recursive_multiplying{}.empty() && recursive_multiplying{0, 1, 3}.is_leader());
static_assert(recursive_multiplying{5, 9, 3}[1].leader(2) == 8 &&
              recursive_multiplying{5, 9, 3}[1].digit() == 1);

/// Simulates an allreduce. True if every rank ends with the operands of all ranks, and always holds those of
/// a contiguous range, combined in rank order.
bool completes(int size, int degree) {
  bool right = true;
  std::vector<rank_range> held;
  for (int r = 0; r < size; ++r) held.push_back({r, 1});
  const auto append = [&](rank_range& mine, const rank_range& next) {
    right = right && mine.first + mine.count == next.first;
    mine.count += next.count;
  };
  int rounds = 0;
  for (int r = 0; r < size; ++r) {
    const recursive_multiplying pattern{r, size, degree};
    if (!pattern.is_leader()) {
      const recursive_multiplying above{pattern.leader(), size, degree};
      right = right && above.is_leader() && pattern.empty() && r >= above.followers().first &&
              r < above.followers().first + above.followers().count;
      continue;
    }
    right = right && pattern.followers().count < degree;
    const auto others = pattern.followers();
    for (int f = others.first; f < others.first + others.count; ++f)
      append(held[static_cast<std::size_t>(r)], {f, 1});
    rounds = pattern.size();
  }
  for (int m = 0; m < rounds; ++m) {
    const auto before = held;
    for (int r = 0; r < size; ++r) {
      const recursive_multiplying pattern{r, size, degree};
      if (!pattern.is_leader()) continue;
      const auto round = pattern[m];
      right = right && pattern.size() == rounds && round.leader(round.digit()) == r;
      rank_range all = before[static_cast<std::size_t>(round.leader(0))];
      for (int j = 0; j < degree; ++j) {
        const recursive_multiplying peer{round.leader(j), size, degree};
        right = right && peer.is_leader() && peer[m].digit() == j && peer[m].leader(round.digit()) == r;
        if (j > 0) append(all, before[static_cast<std::size_t>(round.leader(j))]);
      }
      held[static_cast<std::size_t>(r)] = all;
    }
  }
  for (int r = 0; r < size; ++r)
    right = right && held[static_cast<std::size_t>(recursive_multiplying{r, size, degree}.leader())] ==
                         rank_range{0, size};
  return right;
}

}  // namespace

TEST_CASE("recursive_multiplying: every rank gets the operands of all, in rank order", "[topology]") {
  for (const int degree : {2, 3, 4, 5, 8, 16}) {
    for (int size = 1; size <= 300; ++size) {
      INFO(size << " ranks, degree " << degree);
      REQUIRE(completes(size, degree));
    }
  }
}

TEST_CASE("recursive_multiplying: groups that are a power of the degree do not fold", "[topology]") {
  for (const int degree : {2, 3, 7}) {
    for (int size = 1, rounds = 0; size <= 343; size *= degree, ++rounds) {
      for (int r = 0; r < size; ++r) {
        REQUIRE(recursive_multiplying{r, size, degree}.is_leader());
        REQUIRE(recursive_multiplying{r, size, degree}.size() == rounds);
      }
    }
  }
}

TEST_CASE("recursive_multiplying: ranks fit in int for the largest groups and degrees", "[topology]") {
  for (const int size : {1 << 30, (1 << 30) - 1, (1 << 29) + 1}) {
    for (const int degree : {2, 3, 1000, 1 << 30}) {
      for (const int rank : {0, 1, size / 2, size - 1}) {
        const recursive_multiplying pattern{rank, size, degree};
        REQUIRE((pattern.leader() >= 0 && pattern.leader() <= rank));
        const recursive_multiplying leader{pattern.leader(), size, degree};
        for (const auto round : leader) {
          REQUIRE(round.leader(round.digit()) == pattern.leader());
          REQUIRE((round.leader(0) >= 0 && round.leader(degree - 1) < size));
        }
      }
    }
  }
}

TEST_CASE("recursive_multiplying: a rank or a degree out of range is refused", "[topology]") {
  using Catch::Contains;
  CHECK_THROWS_WITH(recursive_multiplying(3, 3, 2),
                    Contains("recursive_multiplying") && Contains("rank is 3"));
  CHECK_THROWS_WITH(recursive_multiplying(0, 3, 1), Contains("degree is 1"));
}
