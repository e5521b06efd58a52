// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/blocks.hpp>

using chorale::block_layout;
using chorale::blocks;
using chorale::extent;

TEST_CASE("even blocks are contiguous", "[blocks]") {
  const auto layout = block_layout::even(4, 10);
  CHECK(layout.ranks() == 4);
  CHECK(layout.is_even());
  CHECK(layout[0] == extent{0, 10});
  CHECK(layout[3] == extent{30, 10});
  CHECK(layout.total() == 40);
  CHECK(layout.end() == 40);
  CHECK(layout.largest() == 10);
}

TEST_CASE("uneven blocks may be anywhere", "[blocks]") {
  const auto layout = block_layout::uneven({{50, 7}, {3, 0}, {0, 20}});
  CHECK(layout.ranks() == 3);
  CHECK_FALSE(layout.is_even());
  CHECK(layout[0] == extent{50, 7});
  CHECK(layout.total() == 27);
  CHECK(layout.end() == 57);
  CHECK(layout.largest() == 20);
  // An empty block after all others has no bytes, but its offset must be within the buffer.
  CHECK(block_layout::uneven({{0, 5}, {9, 0}}).end() == 9);
  // Blocks of equal size still count as uneven, since ranks need not know that sizes are equal.
  CHECK_FALSE(block_layout::uneven({{0, 5}, {5, 5}}).is_even());
}

TEST_CASE("a layout without ranks is empty", "[blocks]") {
  CHECK(block_layout{}.total() == 0);
  CHECK(block_layout{}.end() == 0);
  CHECK(block_layout::uneven({}).largest() == 0);
  CHECK(blocks<std::byte>{}.buffer().empty());
}

TEST_CASE("a layout outlives the layout it was copied from", "[blocks]") {
  block_layout copy;
  {
    const auto first = block_layout::uneven({{1, 2}, {3, 4}});
    copy = first;
  }
  CHECK(copy[1] == extent{3, 4});
}

TEST_CASE("a block is its part of the buffer", "[blocks]") {
  std::array<std::byte, 60> memory{};
  const blocks<std::byte> even{memory, block_layout::even(6, 10)};
  CHECK(even[2].data() == memory.data() + 20);
  CHECK(even[2].size() == 10);
  CHECK(even.range(2, 3).data() == memory.data() + 20);
  CHECK(even.range(2, 3).size() == 30);
  CHECK(even.range(6, 0).empty());
  const blocks<const std::byte> uneven{memory, block_layout::uneven({{50, 7}, {60, 0}, {0, 20}})};
  CHECK(uneven[0].data() == memory.data() + 50);
  CHECK(uneven[1].empty());
  CHECK(uneven[2].size() == 20);
}
