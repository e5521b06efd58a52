// Two binary trees, walked from the root, and played as a reduction.
#include <algorithm>
#include <ranges>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/topology/arithmetic.hpp>
#include <chorale/topology/two_trees.hpp>

using chorale::topology::two_trees;

namespace {

static_assert(std::ranges::forward_range<two_trees> && std::ranges::forward_range<two_trees::child_range>);
static_assert(two_trees{}[0].is_root() && two_trees{}[1].children().empty());
static_assert(two_trees{0, 2, 0}[1].right() == 1 && two_trees{1, 2, 0}[1].parent() == 0);
static_assert(two_trees{4, 7, 0}[0].left() == 2 && two_trees{4, 7, 0}[0].right() == 6 &&
              two_trees{4, 7, 0}[1].children().empty());

/// The ranks below `rank` and itself, in order, and how deep they reach.
struct walk {
  std::vector<int> ranks;
  int depth = 0;
};

walk below(int rank, int size, int root, int which) {
  const auto tree = two_trees{rank, size, root}[which];
  walk all;
  const auto add = [&](int child) {
    if (child < 0) return;
    // A child that knows another parent, or a circle, would be walked forever.
    const auto its = two_trees{child, size, root}[which];
    REQUIRE(its.parent() == rank);
    const walk deeper = below(child, size, root, which);
    all.ranks.insert(all.ranks.end(), deeper.ranks.begin(), deeper.ranks.end());
    REQUIRE(static_cast<int>(all.ranks.size()) < size + 1);
    all.depth = std::max(all.depth, deeper.depth + 1);
  };
  add(tree.left());
  all.ranks.push_back(rank);
  add(tree.right());
  return all;
}

}  // namespace

TEST_CASE("two_trees: both reach all ranks, in rank order from the root, in log2 n steps", "[topology]") {
  for (int size = 1; size <= 300; ++size) {
    std::vector<int> roots{0};
    if (size <= 33)
      for (int root = 1; root < size; ++root) roots.push_back(root);
    else
      roots.push_back(size / 3);
    for (const int root : roots) {
      for (const int which : {0, 1}) {
        INFO("size " << size << " root " << root << " tree " << which);
        REQUIRE(two_trees{root, size, root}[which].is_root());
        const walk all = below(root, size, root, which);
        std::vector<int> expected;
        for (int v = 0; v < size; ++v) expected.push_back((root + v) % size);
        REQUIRE(all.ranks == expected);
        REQUIRE(all.depth <= chorale::topology::ceil_log2(size + 1));
      }
    }
  }
}

TEST_CASE("two_trees: no rank but the root has children in both, nor more than two", "[topology]") {
  for (int size = 1; size <= 300; ++size) {
    for (int rank = 0; rank < size; ++rank) {
      INFO("size " << size << " rank " << rank);
      const two_trees trees{rank, size, size / 2};
      for (const auto tree : trees) {
        std::vector<int> children;
        for (const int child : tree.children()) children.push_back(child);
        std::vector<int> expected;
        if (tree.left() >= 0) expected.push_back(tree.left());
        if (tree.right() >= 0) expected.push_back(tree.right());
        REQUIRE(children == expected);
        if (tree.is_root()) REQUIRE(tree.children().size() == (size > 1 ? 1 : 0));
      }
      if (rank != size / 2) REQUIRE((trees[0].children().empty() || trees[1].children().empty()));
    }
  }
}

TEST_CASE("two_trees: ranks fit in int for the largest groups", "[topology]") {
  for (const int size : {(1 << 30) - 1, 1 << 30}) {
    for (const int root : {0, size / 2, size - 1}) {
      for (const int rank : {0, 1, size / 2 - 1, size / 2, size - 2, size - 1}) {
        for (const int which : {0, 1}) {
          const auto tree = two_trees{rank, size, root}[which];
          REQUIRE(tree.is_root() == (rank == root));
          for (const int child : tree.children()) {
            REQUIRE((child >= 0 && child < size));
            REQUIRE(two_trees{child, size, root}[which].parent() == rank);
          }
        }
      }
    }
  }
}

TEST_CASE("two_trees: a rank or a root outside the group is refused", "[topology]") {
  using Catch::Contains;
  CHECK_THROWS_WITH(two_trees(3, 3, 0), Contains("two_trees") && Contains("rank is 3"));
  CHECK_THROWS_WITH(two_trees(0, 3, -1), Contains("root is -1"));
}
