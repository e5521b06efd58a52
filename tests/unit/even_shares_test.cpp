// SPDX-License-Identifier: Apache-2.0
// Shares of a buffer, one per rank.
#include <cstddef>
#include <limits>

#include <catch2/catch.hpp>

#include <chorale/algorithm/even_shares.hpp>

TEST_CASE("even shares cover a buffer without gap or overlap", "[shares]") {
  for (const int ranks : {1, 2, 3, 5, 7, 16, 17, 33}) {
    for (const std::size_t granule : {1U, 4U, 12U, 64U}) {
      for (std::size_t granules : {0U, 1U, 2U, 15U, 16U, 17U, 100U, 1000U}) {
        for (const std::size_t rest : {std::size_t{0}, granule / 2}) {
          const std::size_t bytes = granules * granule + rest;
          const auto layout = chorale::even_shares(ranks, bytes, granule);
          INFO(ranks << " ranks, " << bytes << " bytes in granules of " << granule);
          std::size_t at = 0;
          std::size_t least = std::numeric_limits<std::size_t>::max();
          std::size_t most = 0;
          for (int r = 0; r < ranks; ++r) {
            REQUIRE(layout[r].offset == at);
            at += layout[r].bytes;
            // Whole granules, except at the end of the buffer.
            if (at != bytes) REQUIRE(at % granule == 0);
            const std::size_t whole = (layout[r].bytes + granule - 1) / granule;
            least = std::min(least, whole);
            most = std::max(most, whole);
          }
          REQUIRE(at == bytes);
          REQUIRE(most - least <= 1);
        }
      }
    }
  }
}

TEST_CASE("even shares of more than the address space can hold do not overflow", "[shares]") {
  const std::size_t bytes = std::numeric_limits<std::size_t>::max() / 8 * 8 - 8;
  const auto layout = chorale::even_shares(7, bytes, 8);
  CHECK(layout[0].offset == 0);
  CHECK(layout[6].offset + layout[6].bytes == bytes);
  for (int r = 1; r < 7; ++r) CHECK(layout[r].offset == layout[r - 1].offset + layout[r - 1].bytes);
}

TEST_CASE(
    "shares of ranks that write into an owner's memory cover the buffer, and the owner's is the largest",
    "[shares]") {
  for (const int ranks : {1, 2, 3, 5, 7, 13, 16, 17, 33}) {
    for (const int owner : {0, ranks / 2, ranks - 1}) {
      for (const std::size_t granule : {4U, 12U, 4096U}) {
        for (const std::size_t bytes : {0U, 12U, 65'532U, 65'536U, 262'144U, 4'194'300U}) {
          INFO(ranks << " ranks, owner " << owner << ", " << bytes << " bytes in granules of " << granule);
          const auto share = [&](int rank) {
            return chorale::share_for_owner(owner, rank, ranks, bytes, granule);
          };
          std::size_t at = 0;
          for (int r = 0; r < ranks; ++r) {
            REQUIRE(share(r).offset == at);
            at += share(r).bytes;
            REQUIRE(share(r).bytes <= share(owner).bytes);
            if (r != owner) REQUIRE(share(r).bytes % granule == 0);
          }
          REQUIRE(at == bytes);
        }
      }
    }
  }
  // With two ranks the owner has (1 - 1 / 2.6) of the bytes beyond the cost of a call.
  CHECK(chorale::share_for_owner(0, 1, 2, 1 << 20, 4) == chorale::extent{651'584, 396'992});
}
