// SPDX-License-Identifier: Apache-2.0
// Chain and star: every rank is reached once, from its parent.
#include <algorithm>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/error.hpp>
#include <chorale/topology/chain.hpp>
#include <chorale/topology/star.hpp>

using chorale::topology::chain;
using chorale::topology::star;

namespace {

static_assert(chain{}.children().empty() && star{}.children().empty());
static_assert(chain{4, 5, 1}.children()[0] == 0 && chain{0, 5, 1}.children().empty());
static_assert(star{2, 4, 2}.children()[0] == 3 && star{2, 4, 2}.children()[2] == 1);

/// Follows the tree from its root. Returns the depth of each rank.
template <class Tree>
std::vector<int> depths(int size, int root) {
  std::vector<int> found(static_cast<std::size_t>(size), -1);
  std::vector<int> front{root};
  found[static_cast<std::size_t>(root)] = 0;
  while (!front.empty()) {
    const int rank = front.back();
    front.pop_back();
    for (const int child : Tree{rank, size, root}.children()) {
      REQUIRE((child >= 0 && child < size));
      REQUIRE(found[static_cast<std::size_t>(child)] == -1);
      REQUIRE(Tree{child, size, root}.parent() == rank);
      found[static_cast<std::size_t>(child)] = found[static_cast<std::size_t>(rank)] + 1;
      front.push_back(child);
    }
  }
  return found;
}

}  // namespace

TEMPLATE_TEST_CASE("every rank is reached once", "[topology][trees]", chain, star) {
  for (int size = 1; size <= 65; ++size) {
    for (int root = 0; root < size; ++root) {
      const auto found = depths<TestType>(size, root);
      for (int rank = 0; rank < size; ++rank) {
        const TestType tree{rank, size, root};
        REQUIRE(found[static_cast<std::size_t>(rank)] == tree.depth());
        REQUIRE(tree.is_root() == (rank == root));
        REQUIRE((tree.parent() == -1) == (rank == root));
      }
    }
  }
}

TEST_CASE("a chain has one child per rank, a star one level", "[topology][trees]") {
  for (int size = 2; size <= 17; ++size) {
    const auto chained = depths<chain>(size, size / 2);
    CHECK(*std::max_element(chained.begin(), chained.end()) == size - 1);
    const auto flat = depths<star>(size, size / 2);
    CHECK(*std::max_element(flat.begin(), flat.end()) == 1);
    CHECK(star{size / 2, size, size / 2}.children()[0] == (size / 2 + 1) % size);
  }
}

TEMPLATE_TEST_CASE("ranks and roots outside of the group are refused", "[topology][trees]", chain, star) {
  CHECK_THROWS_AS((TestType{3, 3, 0}), chorale::error);
  CHECK_THROWS_AS((TestType{0, 3, 3}), chorale::error);
  CHECK_THROWS_AS((TestType{-1, 3, 0}), chorale::error);
}
