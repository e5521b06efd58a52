// The exclusive scan's rounds, played with the operands that each rank has gathered.
#include <ranges>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/topology/doubling_123.hpp>

using chorale::topology::doubling_123;
using chorale::topology::rank_range;

namespace {

static_assert(std::ranges::forward_range<doubling_123>);
static_assert(doubling_123{}.empty() && doubling_123{0, 1}.size() == 0 && doubling_123{0, 2}.size() == 1);
static_assert(doubling_123{7, 9}[2].from == 4 && doubling_123{7, 9}[2].received == rank_range{1, 3});

/// ceil(log2(size - 1) + log2(4/3)): the first whole number of which the power of two is at least that much.
int rounds_for(int size) {
  int rounds = 0;
  while ((3LL << rounds) < 4LL * (size - 1)) ++rounds;
  return rounds;
}

}  // namespace

TEST_CASE("doubling_123: each rank gathers 0 to rank - 1, in rank order, each once", "[topology]") {
  for (int size = 1; size <= 300; ++size) {
    std::vector<rank_range> gathered;
    for (int r = 0; r < size; ++r) gathered.push_back({r, 0});
    bool right = true;
    for (int m = 0; m < doubling_123{0, size}.size(); ++m) {
      const auto before = gathered;
      for (int r = 0; r < size; ++r) {
        const auto round = doubling_123{r, size}[m];
        if (round.to >= 0) right = right && doubling_123{round.to, size}[m].from == r;
        right = right && (round.to < 0) == (round.sent.count == 0);
        right = right && (round.from < 0) == (round.received.count == 0);
        if (round.from < 0) continue;
        const auto sender = doubling_123{round.from, size}[m];
        right = right && sender.to == r && sender.sent == round.received;
        // It sends what it has, and in the first two rounds its own operand too.
        const auto& theirs = before[static_cast<std::size_t>(round.from)];
        right = right && round.received.first == theirs.first &&
                round.received.count == theirs.count + (m < 2 ? 1 : 0);
        auto& mine = gathered[static_cast<std::size_t>(r)];
        right = right && round.received.first + round.received.count == mine.first;
        mine = {round.received.first, round.received.count + mine.count};
      }
    }
    for (int r = 0; r < size; ++r) right = right && gathered[static_cast<std::size_t>(r)] == rank_range{0, r};
    INFO("size " << size);
    REQUIRE(right);
  }
}

TEST_CASE("doubling_123: as many rounds as the paper says", "[topology]") {
  for (int size = 3; size <= 300; ++size) {
    INFO("size " << size);
    REQUIRE(doubling_123{0, size}.size() == rounds_for(size));
  }
  REQUIRE(doubling_123{0, 1 << 30}.size() == rounds_for(1 << 30));
}

TEST_CASE("doubling_123: distances fit in int for the largest groups", "[topology]") {
  for (const int size : {1 << 30, (1 << 30) - 1, (1 << 29) + 1})
    for (const int rank : {0, 1, size / 2, size - 1})
      for (const auto round : doubling_123{rank, size}) {
        REQUIRE((round.to < size && round.from < rank));
        REQUIRE(round.sent.first + round.sent.count <= rank + 1);
      }
}

TEST_CASE("doubling_123: a rank outside the group is refused", "[topology]") {
  CHECK_THROWS_WITH(doubling_123(3, 3), Catch::Contains("doubling_123") && Catch::Contains("rank is 3"));
}
