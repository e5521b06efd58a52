// Broadcasts over circulant graphs, played with the blocks that each rank has after each round.
#include <ranges>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/topology/circulant_broadcast.hpp>

#include "../support/instrumented.hpp"

namespace topology = chorale::topology;
using topology::circulant_broadcast;

namespace {

static_assert(std::ranges::forward_range<circulant_broadcast>);
static_assert(circulant_broadcast{}.empty() && circulant_broadcast{0, 1, 0, 9}.empty() &&
              circulant_broadcast{0, 9, 0, 0}.empty());
static_assert(circulant_broadcast{1, 2, 0, 3}.size() == 3 &&
              circulant_broadcast{1, 2, 0, 3}[2].received == 2);

/// Plays a broadcast: true if each rank gets each block once, from a rank that has it and sends it.
bool completes(int size, int root, int blocks) {
  std::vector<circulant_broadcast> ranks;
  for (int r = 0; r < size; ++r) ranks.emplace_back(r, size, root, blocks);
  const auto row = static_cast<std::size_t>(blocks);
  std::vector<char> has(static_cast<std::size_t>(size) * row, 0);
  const auto of = [&](int rank, int block) {
    return static_cast<std::size_t>(rank) * row + static_cast<std::size_t>(block);
  };
  for (int b = 0; b < blocks; ++b) has[of(root, b)] = 1;
  bool right = true;
  for (int i = 0; i < ranks[0].size(); ++i) {
    const auto before = has;
    for (int r = 0; r < size; ++r) {
      const auto round = ranks[static_cast<std::size_t>(r)][i];
      const auto sender = ranks[static_cast<std::size_t>(round.from)][i];
      const auto receiver = ranks[static_cast<std::size_t>(round.to)][i];
      right = right && sender.to == r && sender.sent == round.received && sender.index == round.index;
      right = right && receiver.from == r && receiver.received == round.sent;
      right = right && round.sent < blocks && round.received < blocks;
      if (round.received < 0) continue;
      right = right && before[of(round.from, round.received)] != 0 && before[of(r, round.received)] == 0;
      has[of(r, round.received)] = 1;
    }
  }
  for (const char one : has) right = right && one != 0;
  return right;
}

}  // namespace

TEST_CASE("circulant_broadcast: all ranks get all blocks, in blocks - 1 + ceil(log2 n) rounds",
          "[topology]") {
  for (int size = 1; size <= (support::instrumented ? 60 : 300); ++size) {
    int rounds = 0;
    while ((1 << rounds) < size) ++rounds;
    // Fewer blocks than a phase has rounds, as many, more, and every remainder.
    for (int blocks = 1; blocks <= 2 * rounds + 3; ++blocks) {
      INFO(size << " ranks, " << blocks << " blocks");
      REQUIRE(completes(size, 0, blocks));
      REQUIRE(circulant_broadcast(size - 1, size, 0, blocks).size() == (size == 1 ? 0 : blocks - 1 + rounds));
    }
  }
}

TEST_CASE("circulant_broadcast: every rank may be the root", "[topology]") {
  for (int size = 1; size <= 40; ++size) {
    for (int root = 0; root < size; ++root) {
      for (const int blocks : {1, 4, 11}) {
        INFO(size << " ranks, root " << root << ", " << blocks << " blocks");
        REQUIRE(completes(size, root, blocks));
      }
    }
  }
}

TEST_CASE("circulant_broadcast: sender and receiver agree in the largest groups too", "[topology]") {
  for (const int size : {1 << 30, (1 << 30) - 1, (1 << 29) + 1}) {
    for (const int rank : {0, 1, size / 3, size / 2, size - 1}) {
      const circulant_broadcast mine{rank, size, size / 2, 40};
      for (int i = 0; i < mine.size(); ++i) {
        const auto round = mine[i];
        INFO(size << " ranks, rank " << rank << ", round " << i);
        REQUIRE(circulant_broadcast(round.from, size, size / 2, 40)[i].sent == round.received);
        REQUIRE(circulant_broadcast(round.to, size, size / 2, 40)[i].received == round.sent);
      }
    }
  }
}

TEST_CASE("circulant_broadcast: a rank, a root or a number of blocks out of range is refused", "[topology]") {
  using Catch::Contains;
  CHECK_THROWS_WITH(circulant_broadcast(3, 3, 0, 1),
                    Contains("circulant_broadcast") && Contains("rank is 3"));
  CHECK_THROWS_WITH(circulant_broadcast(0, 3, 3, 1), Contains("root is 3"));
  CHECK_THROWS_WITH(circulant_broadcast(0, 3, 0, -1), Contains("blocks is -1"));
}
