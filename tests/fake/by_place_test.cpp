// SPDX-License-Identifier: Apache-2.0
// Blocks that travel together between places, where the ranks do not agree on their sizes.
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/algorithm/gather/by_place.hpp>
#include <chorale/algorithm/scatter/by_place.hpp>
#include <chorale/core/blocks.hpp>
#include <chorale/core/call.hpp>
#include <chorale/core/task.hpp>

#include "transport.hpp"
#include "world.hpp"

using chorale::call_id;
using chorale::operation;
using chorale::task;
using fake::transport;

namespace {

/// Bytes of a rank's block.
struct sizes_of {
  int rank;
  std::size_t own;      ///< as the rank says
  std::size_t at_root;  ///< as the root says
};
constexpr std::size_t others = 20;

/// A gatherv or scatterv among ranks 0 to 6, in places 0 1 2, 3 4 5 and 6, in which one rank and the root
/// may disagree. @returns the error; empty if there was none.
std::string outcome(operation what, sizes_of odd, int root) {
  const call_id now{1, 42, what};
  const auto program = [&](transport& net) -> task<> {
    std::vector<chorale::extent> layout;
    std::size_t end = 0;
    for (int rank = 0; rank < 7; ++rank) {
      layout.push_back({end, rank == odd.rank ? odd.at_root : others});
      end += layout.back().bytes;
    }
    std::vector<std::byte> mine(net.rank() == odd.rank ? odd.own : others);
    std::vector<std::byte> at_root(end);
    chorale::blocks<std::byte> every;
    if (net.rank() == root) every = {at_root, chorale::block_layout::uneven(std::move(layout))};
    if (what == operation::gatherv)
      co_await chorale::gather::by_place::run(net, now, mine, every, root);
    else
      co_await chorale::scatter::by_place::run(net, now, {every.buffer(), every.layout()}, mine, root);
  };
  return fake::outcome({.ranks = 7, .places = fake::sharing::neighbours}, program);
}

}  // namespace

TEST_CASE("a rank whose block has another size at the root is named, whoever passes the block on",
          "[by_place]") {
  for (const auto& [own, at_root] :
       {std::pair<std::size_t, std::size_t>{8, 12}, {0, 8}, {8, 0}, {900, 8}, {8, 900}, {900, 901}}) {
    for (const int root : {0, 1}) {             // leads its place, or does not
      for (const int rank : {2, 3, 4, 5, 6}) {  // in the root's place; leader, and its two ranks; alone
        CAPTURE(own, at_root, root, rank);
        const std::string the_root = "rank " + std::to_string(root);
        const std::string other = "rank " + std::to_string(rank);
        CHECK_THAT(outcome(operation::gatherv, {rank, own, at_root}, root),
                   Catch::Contains(the_root + " expects " + std::to_string(at_root) + " bytes from " + other +
                                   " in gatherv, which sends " + std::to_string(own)));
        CHECK_THAT(outcome(operation::scatterv, {rank, own, at_root}, root),
                   Catch::Contains(other + " expects " + std::to_string(own) + " bytes from " + the_root +
                                   " in scatterv, which sends " + std::to_string(at_root)));
      }
    }
  }
  CHECK(outcome(operation::gatherv, {4, 900, 900}, 1).empty());
  CHECK(outcome(operation::scatterv, {4, 900, 900}, 1).empty());
}

TEST_CASE("by_place says which algorithm runs", "[by_place]") {
  for (const auto& [places, name] :
       {std::pair{fake::sharing::neighbours, "by_place: "}, {fake::sharing::none, "flat: "}}) {
    fake::world all{{.ranks = 7, .places = places}};
    const transport net{all, 0};
    CHECK_THAT(chorale::gather::by_place::explain(net, 8), Catch::StartsWith(name));
    CHECK_THAT(chorale::scatter::by_place::explain(net, 8), Catch::StartsWith(name));
  }
}
