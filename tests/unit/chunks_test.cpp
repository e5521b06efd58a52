// SPDX-License-Identifier: Apache-2.0
// Buffers split into pieces.
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/chunks.hpp>

using chorale::chunks;

TEMPLATE_TEST_CASE("pieces cover a buffer in order, with as many whole elements as fit", "[chunks]",
                   std::byte, std::uint32_t, (std::array<char, 24>), (std::array<char, 100>)) {
  for (const std::size_t count : {0U, 1U, 2U, 3U, 10U, 11U, 100U}) {
    for (const std::size_t bytes : {1U, 24U, 25U, 100U, 240U, 10000U}) {
      std::vector<TestType> data(count);
      std::size_t at = 0;
      for (const auto piece : chunks{std::span{data}, bytes}) {
        REQUIRE(piece.data() == data.data() + at);
        REQUIRE_FALSE(piece.empty());
        // An element that does not fit is a piece of its own.
        CHECK((piece.size_bytes() <= bytes || piece.size() == 1));
        at += piece.size();
        // No smaller than necessary, except the last.
        if (at < count) CHECK((piece.size() + 1) * sizeof(TestType) > bytes);
      }
      CHECK(at == count);
    }
  }
}
