// SPDX-License-Identifier: Apache-2.0
#include <numeric>
#include <random>
#include <ranges>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/topology/binomial.hpp>

using chorale::topology::binomial;

namespace {

static_assert(std::ranges::forward_range<binomial::child_range>);
static_assert(binomial{0, 8, 0}.children()[0] == 4 && binomial{0, 8, 0}.children().size() == 3);
static_assert(binomial{7, 8, 0}.parent() == 6 && binomial{0, 8, 0}.parent() == -1);
static_assert(binomial{}.is_root() && binomial{}.children().empty());

/// Children of every virtual rank, by simulating the broadcast: at halving distances, every rank that has the
/// data forwards it.
std::vector<std::vector<int>> simulated_children(int size) {
  std::vector<std::vector<int>> children(static_cast<std::size_t>(size));
  std::vector<int> informed{0};
  int distance = 1;
  while (distance < size) distance *= 2;
  for (distance /= 2; distance >= 1; distance /= 2) {
    const std::vector<int> senders = informed;
    for (const int v : senders) {
      if (v + distance >= size) continue;
      children[static_cast<std::size_t>(v)].push_back(v + distance);
      informed.push_back(v + distance);
    }
  }
  return children;
}

/// Number of ranks in the subtree of `v` in a table of children.
int count_below(const std::vector<std::vector<int>>& children, int v) {
  int total = 1;
  for (const int child : children[static_cast<std::size_t>(v)]) total += count_below(children, child);
  return total;
}

}  // namespace

TEST_CASE("binomial: children are those of the simulated broadcast, for every size, root and rank",
          "[topology]") {
  for (int size = 1; size <= 65; ++size) {
    const auto expected = simulated_children(size);
    for (int root = 0; root < size; ++root) {
      std::vector<int> reached(static_cast<std::size_t>(size), 0);
      for (int rank = 0; rank < size; ++rank) {
        const binomial tree{rank, size, root};
        const int v = (rank - root + size) % size;
        std::vector<int> children;
        for (const int child : tree.children()) {
          children.push_back((child - root + size) % size);
          ++reached[static_cast<std::size_t>(child)];
          REQUIRE(binomial(child, size, root).parent() == rank);
          REQUIRE(binomial(child, size, root).depth() == tree.depth() + 1);
        }
        INFO("size " << size << " root " << root << " rank " << rank);
        REQUIRE(children == expected[static_cast<std::size_t>(v)]);
        REQUIRE(tree.children().size() == static_cast<int>(children.size()));
        REQUIRE(tree.subtree_size() == count_below(expected, v));
        REQUIRE(tree.is_root() == (rank == root));
        REQUIRE((tree.parent() == -1) == (rank == root));
        REQUIRE((1LL << tree.depth()) < 2LL * size);
      }
      for (int rank = 0; rank < size; ++rank)
        REQUIRE(reached[static_cast<std::size_t>(rank)] == (rank == root ? 0 : 1));
    }
  }
}

TEST_CASE("binomial: every rank has the data after ceil(log2 n) steps of one message per rank",
          "[topology]") {
  for (int size = 1; size <= 65; ++size) {
    int steps = 0;
    for (long long reach = 1; reach < size; reach *= 2) ++steps;
    std::vector<int> arrival(static_cast<std::size_t>(size), 0);
    int last = 0;
    for (int rank = 0; rank < size; ++rank) {  // with root 0 a parent comes before its children
      int now = arrival[static_cast<std::size_t>(rank)];
      last = std::max(last, now);
      for (const int child : binomial{rank, size, 0}.children())
        arrival[static_cast<std::size_t>(child)] = ++now;
    }
    REQUIRE(last == steps);
  }
}

TEST_CASE("binomial: subtrees are contiguous ranges of virtual ranks", "[topology]") {
  for (int size = 1; size <= 65; ++size) {
    for (int v = 0; v < size; ++v) {
      int end = v + binomial(v, size, 0).subtree_size();
      for (const int child :
           binomial{v, size, 0}.children()) {  // largest first: they tile the range from its end
        REQUIRE(child + binomial(child, size, 0).subtree_size() == end);
        end = child;
      }
      REQUIRE(end == v + 1);
    }
  }
}

TEST_CASE("binomial: parents and children agree in groups of up to 2^30 ranks", "[topology]") {
  const auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random{seed};
  for (int i = 0; i < 5000; ++i) {
    const int size = i == 0 ? 1 << 30 : std::uniform_int_distribution{1, 1 << 30}(random);
    const int rank = std::uniform_int_distribution{0, size - 1}(random);
    const int root = std::uniform_int_distribution{0, size - 1}(random);
    INFO("size " << size << " rank " << rank << " root " << root);
    const binomial tree{rank, size, root};
    for (const int child : tree.children()) REQUIRE(binomial(child, size, root).parent() == rank);
    if (tree.is_root()) continue;
    int found = 0;
    for (const int child : binomial{tree.parent(), size, root}.children()) found += child == rank ? 1 : 0;
    REQUIRE(found == 1);
  }
}

TEST_CASE("binomial: a rank or root outside the group is refused by name", "[topology]") {
  using Catch::Contains;
  CHECK_THROWS_WITH(binomial(4, 4, 0), Contains("binomial") && Contains("rank is 4"));
  CHECK_THROWS_WITH(binomial(-1, 4, 0), Contains("rank is -1"));
  CHECK_THROWS_WITH(binomial(0, 4, 4), Contains("root is 4"));
  CHECK_THROWS_WITH(binomial(0, 0, 0), Contains("size is 0"));
  CHECK_THROWS_WITH(binomial(0, (1 << 30) + 1, 0), Contains("size is 1073741825"));
  CHECK_THROWS_AS(binomial(0, -5, 0), chorale::error);
}
