// Shares of a buffer, one for each rank.
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
            // All but the end of the buffer is whole granules.
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
