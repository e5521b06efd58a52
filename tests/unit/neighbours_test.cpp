// SPDX-License-Identifier: Apache-2.0
// The order in which a rank visits the peers of an exchange.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/neighbours.hpp>

namespace {

using chorale::incoming;
using chorale::nobody;
using chorale::outgoing;

/// Messages to these peers; the type of each is its index in the list.
std::vector<outgoing> messages(const std::vector<int>& peers) {
  std::vector<outgoing> list;
  for (const int peer : peers) list.push_back({peer, {}, static_cast<std::uint32_t>(list.size())});
  return list;
}
/// Distances and indices in the list, sorted by the standard library.
std::vector<std::pair<int, std::uint32_t>> expected(int rank, int ranks, const std::vector<int>& peers) {
  std::vector<std::pair<int, std::uint32_t>> all;
  for (std::uint32_t i = 0; i < peers.size(); ++i)
    if (peers[i] != nobody) all.emplace_back((peers[i] - rank + ranks) % ranks, i);
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

TEST_CASE("messages are ordered by the distance of their peers, those of one peer as in the list",
          "[neighbours]") {
  std::mt19937 random(7);
  std::vector<outgoing> memory;
  for (const int ranks : {1, 2, 3, 5, 16, 33}) {
    for (const std::size_t count : {0U, 1U, 2U, 3U, 16U, 17U, 200U}) {
      for (int turn = 0; turn < 20; ++turn) {
        const int me = static_cast<int>(random() % static_cast<unsigned>(ranks));
        std::vector<int> peers(count);
        for (int& peer : peers) peer = static_cast<int>(random() % static_cast<unsigned>(ranks + 1)) - 1;
        const auto list = messages(peers);
        const auto ordered = chorale::by_distance(me, ranks, std::span<const outgoing>{list}, memory);
        std::vector<std::pair<int, std::uint32_t>> got;
        for (const outgoing& m : ordered) got.emplace_back(chorale::distance_of(m.peer, me, ranks), m.type);
        REQUIRE(got == expected(me, ranks, peers));
      }
    }
  }
}

TEST_CASE("a sorted list is not copied", "[neighbours]") {
  std::vector<outgoing> memory;
  const auto list = messages({3, 4, 4, 0, 1});
  const std::span<const outgoing> all{list};
  CHECK(chorale::by_distance(3, 5, all, memory).data() == all.data());
  const auto sorted = chorale::by_distance(4, 5, all, memory);
  CHECK(sorted.data() == memory.data());
  const std::vector<incoming> none{{nobody, {}, 0}};
  std::vector<incoming> kept(3);
  CHECK(chorale::by_distance(0, 2, std::span<const incoming>{none}, kept).empty());
}
