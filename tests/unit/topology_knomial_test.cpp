// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <random>
#include <ranges>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/error.hpp>
#include <chorale/topology/binomial.hpp>
#include <chorale/topology/knomial.hpp>

using chorale::topology::binomial;
using chorale::topology::knomial;

namespace {

static_assert(std::ranges::forward_range<knomial::child_range>);
static_assert(knomial{0, 9, 0, 3}.children()[0] == 3 && knomial{0, 9, 0, 3}.children().size() == 4);
static_assert(knomial{8, 9, 0, 3}.parent() == 6 && knomial{0, 9, 0, 3}.parent() == -1);
static_assert(knomial{}.is_root() && knomial{}.children().empty());

/// Children of every virtual rank, by simulating the broadcast: in each step, every rank that has the message
/// sends it to `radix` - 1 others.
std::vector<std::vector<int>> simulated_children(int size, int radix) {
  std::vector<std::vector<int>> children(static_cast<std::size_t>(size));
  std::vector<int> informed{0};
  int distance = 1;
  while (distance < size) distance *= radix;
  for (distance /= radix; distance >= 1; distance /= radix) {
    const std::vector<int> senders = informed;
    for (const int v : senders) {
      for (int j = 1; j < radix && v + j * distance < size; ++j) {
        children[static_cast<std::size_t>(v)].push_back(v + j * distance);
        informed.push_back(v + j * distance);
      }
    }
  }
  return children;
}

template <class Range>
std::vector<int> listed(const Range& range) {
  std::vector<int> all;
  for (const int one : range) all.push_back(one);
  return all;
}

}  // namespace

TEST_CASE("knomial: children are those of the simulated broadcast, for every size, radix, root and rank",
          "[topology]") {
  for (int size = 1; size <= 40; ++size) {
    for (int radix = 2; radix <= 9; ++radix) {
      const auto expected = simulated_children(size, radix);
      for (int root = 0; root < size; ++root) {
        for (int rank = 0; rank < size; ++rank) {
          INFO("size " << size << ", radix " << radix << ", root " << root << ", rank " << rank);
          const knomial tree{rank, size, root, radix};
          std::vector<int> children;
          for (const int child : tree.children()) {
            children.push_back((child - root + size) % size);
            REQUIRE(knomial(child, size, root, radix).parent() == rank);
            REQUIRE(knomial(child, size, root, radix).depth() == tree.depth() + 1);
          }
          REQUIRE(children == expected[static_cast<std::size_t>((rank - root + size) % size)]);
          REQUIRE(tree.children().size() == static_cast<int>(children.size()));
          REQUIRE(tree.is_root() == (rank == root));
          REQUIRE((tree.parent() == -1) == (rank == root));
        }
      }
    }
  }
}

TEST_CASE("knomial: of radix 2 it is the binomial tree", "[topology]") {
  for (int size = 1; size <= 33; ++size)
    for (int rank = 0; rank < size; ++rank)
      REQUIRE(listed(knomial(rank, size, size / 2, 2).children()) ==
              listed(binomial(rank, size, size / 2).children()));
}

TEST_CASE("knomial: parents and children agree in groups of up to 2^30 ranks", "[topology]") {
  const auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random{seed};
  for (int i = 0; i < 5000; ++i) {
    const int size = i < 2 ? 1 << 30 : std::uniform_int_distribution{1, 1 << 30}(random);
    const int radix = i % 3 == 0 ? 2 + i % 64 : std::uniform_int_distribution{2, 1 << 30}(random);
    const int rank = std::uniform_int_distribution{0, size - 1}(random);
    const int root = i % 2 == 0 ? rank : std::uniform_int_distribution{0, size - 1}(random);
    INFO("size " << size << " rank " << rank << " root " << root << " radix " << radix);
    const knomial tree{rank, size, root, radix};
    const auto children = tree.children();
    for (int child = 0; child < children.size(); child += 1 + children.size() / 100)
      REQUIRE(knomial(children[child], size, root, radix).parent() == rank);
    if (!tree.is_root()) REQUIRE(knomial(tree.parent(), size, root, radix).depth() + 1 == tree.depth());
  }
}

TEST_CASE("knomial: ranks, roots and radixes out of range are refused", "[topology]") {
  CHECK_THROWS_AS(knomial(3, 3, 0, 2), chorale::error);
  CHECK_THROWS_AS(knomial(0, 3, -1, 2), chorale::error);
  CHECK_THROWS_AS(knomial(0, 3, 0, 1), chorale::error);
}
