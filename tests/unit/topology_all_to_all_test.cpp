// SPDX-License-Identifier: Apache-2.0
// Ring, all pairs and Bruck's patterns, simulated with real blocks.
#include <algorithm>
#include <ranges>
#include <set>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/topology/topology.hpp>

namespace topology = chorale::topology;

namespace {

static_assert(std::ranges::forward_range<topology::ring> && std::ranges::forward_range<topology::all_pairs>);
static_assert(std::ranges::forward_range<topology::bruck_allgather> &&
              std::ranges::forward_range<topology::bruck_alltoall>);
static_assert(topology::ring{0, 3}.left() == 2 && topology::ring{2, 3}.right() == 0);
static_assert(topology::ring{}.empty() && topology::all_pairs{}.empty() &&
              topology::bruck_alltoall{}.empty());

template <class T>
using table = std::vector<std::vector<T>>;

template <class T>
T& at(table<T>& t, int row, int column) {
  return t[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
}

template <class T>
table<T> filled(int size, T value) {
  return table<T>(static_cast<std::size_t>(size), std::vector<T>(static_cast<std::size_t>(size), value));
}

}  // namespace

TEST_CASE("ring: every block reaches every rank once, from a left neighbour that has it", "[topology]") {
  for (int size = 1; size <= 65; ++size) {
    auto has = filled<char>(size, 0);
    for (int r = 0; r < size; ++r) at(has, r, r) = 1;
    for (int i = 0; i < size - 1; ++i) {
      const auto before = has;
      for (int r = 0; r < size; ++r) {
        const auto step = topology::ring{r, size}[i];
        INFO("size " << size << " rank " << r << " step " << i);
        REQUIRE(step.index == i);
        REQUIRE(step.to == (r + 1) % size);
        REQUIRE(step.from == (r + size - 1) % size);
        REQUIRE(topology::ring(step.to, size)[i].receive_block == step.send_block);
        REQUIRE(before[static_cast<std::size_t>(r)][static_cast<std::size_t>(step.send_block)] == 1);
        REQUIRE(at(has, r, step.receive_block) == 0);
        at(has, r, step.receive_block) = 1;
      }
    }
    REQUIRE(has == filled<char>(size, 1));
    REQUIRE(topology::ring(0, size).size() == size - 1);
  }
}

TEST_CASE("all_pairs: every ordered pair once, and each rank receives from one rank per step", "[topology]") {
  for (int size = 1; size <= 65; ++size) {
    auto met = filled<int>(size, 0);
    for (int i = 0; i < size - 1; ++i) {
      std::vector<int> source(static_cast<std::size_t>(size), -1);
      for (int r = 0; r < size; ++r) {
        const auto step = topology::all_pairs{r, size}[i];
        REQUIRE(step.index == i + 1);
        REQUIRE(source[static_cast<std::size_t>(step.to)] == -1);
        source[static_cast<std::size_t>(step.to)] = r;
        ++at(met, r, step.to);
        if ((size & (size - 1)) == 0) REQUIRE(step.to == step.from);  // a power of two exchanges
      }
      for (int r = 0; r < size; ++r)
        REQUIRE(topology::all_pairs(r, size)[i].from == source[static_cast<std::size_t>(r)]);
    }
    auto expected = filled<int>(size, 1);
    for (int r = 0; r < size; ++r) at(expected, r, r) = 0;
    REQUIRE(met == expected);
  }
}

TEST_CASE("bruck_allgather: place j ends with the block of rank + j, in ceil(log2 n) rounds", "[topology]") {
  for (int size = 1; size <= 65; ++size) {
    auto places = filled<int>(size, -1);
    for (int r = 0; r < size; ++r) at(places, r, 0) = r;
    const int rounds = topology::bruck_allgather{0, size}.size();
    int moved = 0;
    for (int m = 0; m < rounds; ++m) {
      auto before = places;
      for (int r = 0; r < size; ++r) {
        const auto round = topology::bruck_allgather{r, size}[m];
        const auto peer = topology::bruck_allgather{round.from, size}[m];
        REQUIRE(peer.to == r);
        REQUIRE(peer.blocks == round.blocks);
        for (int j = 0; j < round.blocks; ++j) {
          REQUIRE(at(before, round.from, j) != -1);
          REQUIRE(at(places, r, round.distance + j) == -1);
          at(places, r, round.distance + j) = at(before, round.from, j);
        }
        if (r == 0) moved += round.blocks;
      }
    }
    REQUIRE(moved == size - 1);
    for (int r = 0; r < size; ++r)
      for (int j = 0; j < size; ++j) REQUIRE(at(places, r, j) == (r + j) % size);
  }
}

TEST_CASE("bruck_alltoall: place j ends with the block that rank - j had for this rank", "[topology]") {
  using block = std::pair<int, int>;  // source, destination
  for (const int radix : {2, 3, 4, 5, 8, 17, 300}) {
    for (int size = 1; size <= 300; size += size < 40 || radix == 3 ? 1 : 13) {
      INFO("radix " << radix << " size " << size);
      auto places = filled<block>(size, {-1, -1});
      for (int r = 0; r < size; ++r)
        for (int j = 0; j < size; ++j) at(places, r, j) = {r, (r + j) % size};
      bool agree = true;
      for (int m = 0; m < topology::bruck_alltoall{0, size, radix}.size(); ++m) {
        const auto before = places;
        for (int r = 0; r < size; ++r) {
          const auto round = topology::bruck_alltoall{r, size, radix}[m];
          for (int i = 0; i < round.count(); ++i) {
            agree = agree && topology::bruck_alltoall{round.from(i), size, radix}[m].to(i) == r;
            const auto& sender = before[static_cast<std::size_t>(round.from(i))];
            round.each_place(i, [&](int j) { at(places, r, j) = sender[static_cast<std::size_t>(j)]; });
          }
        }
      }
      REQUIRE(agree);
      bool right = true;
      for (int r = 0; r < size; ++r)
        for (int j = 0; j < size; ++j) right = right && at(places, r, j) == block{(r - j + size) % size, r};
      REQUIRE(right);
    }
  }
}

TEST_CASE("bruck_alltoall: the places of a message have its digit, and message 0 is the longest",
          "[topology]") {
  for (const int radix : {2, 3, 4, 5, 8, 17}) {
    for (int size = 1; size <= 300; ++size) {
      INFO("radix " << radix << " size " << size);
      int distance = 1;
      int rounds = 0;
      for (const auto round : topology::bruck_alltoall{size / 2, size, radix}) {
        REQUIRE((round.count() >= 1 && round.count() < radix));
        std::vector<std::vector<int>> expected(static_cast<std::size_t>(radix));
        for (int j = 0; j < size; ++j) expected[static_cast<std::size_t>(j / distance % radix)].push_back(j);
        for (int i = 0; i < radix - 1; ++i) {
          const auto& digit = expected[static_cast<std::size_t>(i) + 1];
          REQUIRE(digit.empty() == (i >= round.count()));
          if (i >= round.count()) continue;
          REQUIRE(digit.size() <= expected[1].size());
          std::vector<int> moved;
          round.each_place(i, [&](int j) { moved.push_back(j); });
          REQUIRE(moved == digit);
          REQUIRE(round.to(i) == (size / 2 + digit.front()) % size);
        }
        distance *= radix;
        ++rounds;
      }
      REQUIRE(distance >= size);
      REQUIRE((rounds == 0 || distance / radix < size));
    }
  }
}

TEST_CASE("bruck_alltoall: distances fit in int for the largest groups and radices", "[topology]") {
  for (const int size : {(1 << 30) - 1, 1 << 30}) {
    for (const int radix : {2, 3, 1000, 1 << 20, 1 << 30}) {
      for (const int rank : {0, size / 2, size - 1}) {
        for (const auto round : topology::bruck_alltoall{rank, size, radix}) {
          const int last = round.count() - 1;
          REQUIRE((round.to(last) >= 0 && round.to(last) < size));
          REQUIRE((round.from(last) >= 0 && round.from(last) < size));
        }
      }
    }
  }
}

TEST_CASE("nearest_steps: k steps and k partners, k + 1 if k and the number of ranks are odd", "[topology]") {
  for (int size = 1; size <= 33; ++size) {
    for (int wanted = -1; wanted <= size + 1; ++wanted) {
      const topology::nearest_steps chosen{size, wanted};
      const int within = std::clamp(wanted, 0, size - 1);
      const int odd = size % 2 == 1 && within % 2 == 1 ? 1 : 0;
      INFO(size << " ranks, " << wanted << " steps");
      REQUIRE(chosen.count() == within + odd);
      for (int r = 0; r < size; ++r) {
        int steps = 0;
        std::set<int> partners;
        for (const auto step : topology::all_pairs{r, size}) {
          if (!chosen.contain(step.index)) continue;
          ++steps;
          partners.insert(step.to);
          partners.insert(step.from);
        }
        REQUIRE(steps == chosen.count());
        REQUIRE(static_cast<int>(partners.size()) == chosen.count());
      }
    }
  }
}

TEST_CASE("ring, all_pairs, bruck: a rank outside the group is refused", "[topology]") {
  using Catch::Contains;
  CHECK_THROWS_WITH(topology::ring(2, 2), Contains("ring") && Contains("rank is 2"));
  CHECK_THROWS_WITH(topology::all_pairs(2, 2), Contains("all_pairs"));
  CHECK_THROWS_WITH(topology::bruck_allgather(-1, 2), Contains("bruck_allgather"));
  CHECK_THROWS_WITH(topology::bruck_alltoall(0, 0, 2), Contains("bruck_alltoall") && Contains("size is 0"));
  CHECK_THROWS_WITH(topology::bruck_alltoall(0, 2, 1), Contains("bruck_alltoall") && Contains("radix is 1"));
}
