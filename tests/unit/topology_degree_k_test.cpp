// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <ranges>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/topology/degree_k.hpp>
#include <chorale/topology/gather_tree.hpp>

using chorale::topology::degree_k;
using chorale::topology::rank_range;

namespace {

static_assert(std::ranges::forward_range<degree_k::child_range>);
static_assert(degree_k::steps_of(4, 1) == 2 && degree_k::steps_of(4, 3) == 1);  // P2 figure 3
static_assert(degree_k{16, 32, 3}.parent() == 0 && degree_k{28, 32, 3}.parent() == 16);
static_assert(chorale::topology::valid_degree(7) && !chorale::topology::valid_degree(6));
static_assert(degree_k{}.is_root() && degree_k{}.children().empty());
static_assert(std::same_as<chorale::topology::gather_tree, degree_k>);

constexpr int degrees[] = {1, 3, 7, 15, 31, 63};

struct message {
  int from;
  int to;
  int step;
};

/// The messages of a reduction by definition: in each step the head of each group of k + 1 receives from the
/// others.
std::vector<message> play(int size, int degree) {
  std::vector<int> holders(static_cast<std::size_t>(size));
  std::iota(holders.begin(), holders.end(), 0);
  std::vector<message> messages;
  for (int step = 0; holders.size() > 1; ++step) {
    std::vector<int> heads;
    for (std::size_t i = 0; i < holders.size(); ++i) {
      const bool head = i % (static_cast<std::size_t>(degree) + 1) == 0;
      if (head)
        heads.push_back(holders[i]);
      else
        messages.push_back({holders[i], heads.back(), step});
    }
    holders = heads;
  }
  return messages;
}

int power_steps(int size, int degree) {
  int steps = 0;
  for (long long reach = 1; reach < size; reach *= degree + 1) ++steps;
  return steps;
}

std::vector<int> list(const degree_k::child_range& range) {
  return {range.begin(), range.end()};
}

}  // namespace

TEST_CASE("degree_k: the messages are those of the simulated reduction, for every size and degree",
          "[topology]") {
  for (const int degree : degrees) {
    for (int size = 1; size <= 65; ++size) {
      INFO("size " << size << " degree " << degree);
      std::map<int, std::map<int, std::vector<int>>> expected;  // receiver, step, senders in order
      std::map<int, message> sends;
      for (const auto& m : play(size, degree)) {
        expected[m.to][m.step].push_back(m.from);
        sends[m.from] = m;
      }
      REQUIRE(degree_k::steps_of(size, degree) == power_steps(size, degree));
      for (int rank = 0; rank < size; ++rank) {
        INFO("rank " << rank);
        const degree_k tree{rank, size, degree};
        std::vector<int> flat;
        for (int step = 0; step < degree_k::steps_of(size, degree); ++step) {
          if (step < tree.steps()) REQUIRE(list(tree.children(step)) == expected[rank][step]);
          if (step >= tree.steps()) REQUIRE(expected[rank][step].empty());
          REQUIRE(expected[rank][step].size() <= static_cast<std::size_t>(degree));
          flat.insert(flat.end(), expected[rank][step].begin(), expected[rank][step].end());
        }
        REQUIRE(list(tree.children()) == flat);
        REQUIRE(tree.is_root() == (rank == 0));
        REQUIRE(tree.degree() == degree);
        if (rank == 0) {
          REQUIRE(tree.parent() == -1);
        } else {
          REQUIRE(tree.parent() == sends.at(rank).to);
          REQUIRE(tree.steps() == sends.at(rank).step);
          REQUIRE(std::ranges::count(degree_k(tree.parent(), size, degree).children(), rank) == 1);
        }
      }
    }
  }
}

TEST_CASE("degree_k: evaluates in rank order, in every subtree, for every size and degree", "[topology]") {
  for (const int degree : degrees) {
    for (int size = 1; size <= 65; ++size) {
      INFO("size " << size << " degree " << degree);
      std::vector<std::string> held(static_cast<std::size_t>(size));
      for (int rank = size - 1; rank >= 0; --rank) {  // children have higher ranks, so they are complete
        auto& mine = held[static_cast<std::size_t>(rank)];
        mine = std::to_string(rank) + ",";
        for (const int child : degree_k{rank, size, degree}.children())
          mine += held[static_cast<std::size_t>(child)];
        const rank_range subtree = degree_k{rank, size, degree}.subtree();
        std::string expected;
        for (int r = subtree.first; r < subtree.first + subtree.count; ++r)
          expected += std::to_string(r) + ",";
        REQUIRE(mine == expected);
      }
      REQUIRE(degree_k(0, size, degree).subtree() == rank_range{0, size});
    }
  }
}

TEST_CASE("degree_k: 32 ranks with degree 3 is the tree of P2 figure 4, with a tail of degree 1",
          "[topology]") {
  CHECK(degree_k::steps_of(32, 3) == 3);
  const degree_k head{0, 32, 3};
  CHECK(list(head.children()) == std::vector<int>{1, 2, 3, 4, 8, 12, 16});
  CHECK(list(head.children(0)) == std::vector<int>{1, 2, 3});
  CHECK(list(head.children(1)) == std::vector<int>{4, 8, 12});
  CHECK(list(head.children(2)) == std::vector<int>{16});
  CHECK(list(degree_k{16, 32, 3}.children()) == std::vector<int>{17, 18, 19, 20, 24, 28});
  CHECK(list(degree_k{28, 32, 3}.children()) == std::vector<int>{29, 30, 31});
  CHECK(degree_k(31, 32, 3).parent() == 28);
}

TEST_CASE("degree_k: degree 1 is the binomial tree of figure 3a, degree 3 on 4 ranks figure 3b",
          "[topology]") {
  CHECK(list(degree_k{0, 4, 1}.children()) == std::vector<int>{1, 2});
  CHECK(degree_k(3, 4, 1).parent() == 2);
  CHECK(list(degree_k{0, 4, 3}.children()) == std::vector<int>{1, 2, 3});
}

TEST_CASE("degree_k: any root gets the result by one message from rank 0", "[topology]") {
  for (int size = 1; size <= 65; ++size) {
    for (int root = 0; root < size; ++root) {
      for (int rank = 0; rank < size; ++rank) {
        const degree_k tree{rank, size, 7, root};
        REQUIRE(tree.parent() == degree_k(rank, size, 7).parent());
        REQUIRE(tree.deliver_to() == (rank == 0 && root != 0 ? root : -1));
        REQUIRE(tree.deliver_from() == (rank == root && root != 0 ? 0 : -1));
      }
    }
  }
}

TEST_CASE("degree_k: parents and children agree in groups of up to 2^30 ranks", "[topology]") {
  const auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random{seed};
  for (int i = 0; i < 5000; ++i) {
    const int size = i == 0 ? 1 << 30 : std::uniform_int_distribution{1, 1 << 30}(random);
    const int rank = i == 0 ? 0 : std::uniform_int_distribution{0, size - 1}(random);
    const int degree = (1 << std::uniform_int_distribution{1, 6}(random)) - 1;
    INFO("size " << size << " rank " << rank << " degree " << degree);
    const degree_k tree{rank, size, degree};
    int previous = rank;
    for (const int child : tree.children()) {
      REQUIRE(child > previous);
      previous = child;
      REQUIRE(degree_k(child, size, degree).parent() == rank);
    }
    if (rank != 0) REQUIRE(std::ranges::count(degree_k(tree.parent(), size, degree).children(), rank) == 1);
    REQUIRE(degree_k::steps_of(size, degree) == power_steps(size, degree));
  }
  constexpr int widest = (1 << 30) - 1;
  CHECK(degree_k(5, 9, widest).parent() == 0);
  CHECK(list(degree_k{0, 4, widest}.children()) == std::vector<int>{1, 2, 3});
}

TEST_CASE("degree_k: degrees that are not 2^m - 1, ranks and roots outside the group are refused",
          "[topology]") {
  using Catch::Contains;
  for (const int degree : {0, 2, 4, 5, 6, 8, -1, -7, 2147483647}) {
    INFO("degree " << degree);
    CHECK_FALSE(chorale::topology::valid_degree(degree));
    CHECK_THROWS_WITH(degree_k(0, 4, degree),
                      Contains("degree_k") && Contains("degree is " + std::to_string(degree)));
    CHECK_THROWS_AS(degree_k::steps_of(4, degree), chorale::error);
  }
  for (const int degree : degrees) CHECK(chorale::topology::valid_degree(degree));
  CHECK_THROWS_WITH(degree_k(9, 8, 3), Contains("rank is 9"));
  CHECK_THROWS_WITH(degree_k(0, 8, 3, -1), Contains("root is -1"));
}
