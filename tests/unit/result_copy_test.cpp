// SPDX-License-Identifier: Apache-2.0
// Copies through the caches and past them write every byte, and no others.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/algorithm/host_slots.hpp>
#include <chorale/core/result_copy.hpp>

#include "../support/seed.hpp"

using chorale::result_copy;

namespace {

constexpr std::byte untouched{0xa5};

/// Copies `bytes` between addresses with these offsets from a cache line. @returns the error; empty if there
/// is none.
std::string wrong_with(const result_copy& place, std::size_t bytes, std::size_t to_offset,
                       std::size_t from_offset, std::mt19937_64& random) {
  constexpr std::size_t margin = 128;
  std::vector<std::byte> from(bytes + 2 * margin);
  std::generate(from.begin(), from.end(), [&] { return static_cast<std::byte>(random()); });
  std::vector<std::byte> to(bytes + 2 * margin, untouched);
  std::vector<std::byte> expected = to;
  std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(from_offset), bytes,
              expected.begin() + static_cast<std::ptrdiff_t>(to_offset));
  place(to.data() + to_offset, from.data() + from_offset, bytes);
  if (to == expected) return {};
  return std::to_string(bytes) + " bytes from " + std::to_string(from_offset) + " to " +
         std::to_string(to_offset);
}

}  // namespace

TEST_CASE("results are copied to the byte, through the caches and past them", "[copy]") {
  std::mt19937_64 random{support::seed()};
  const result_copy through{0, 1};
  const result_copy past{std::numeric_limits<std::size_t>::max(), 1000};
  for (const result_copy* place : {&through, &past}) {
    for (std::size_t bytes = 0; bytes < 200; ++bytes)
      for (const std::size_t offset : {0U, 1U, 8U, 63U, 64U})
        CHECK(wrong_with(*place, bytes, offset, (offset * 7) % 65, random) == "");
    for (const std::size_t bytes : {4095U, 4096U, 65536U, 100003U})
      for (const std::size_t offset : {0U, 5U, 16U})
        CHECK(wrong_with(*place, bytes, offset, 3, random) == "");
  }
}

TEST_CASE("parts of a long message are whole cache lines of about equal length, and fit into a slot",
          "[copy]") {
  using chorale::part_bytes;
  CHECK(part_bytes(0, 64) == 0);
  CHECK(part_bytes(64, 64) == 64);
  CHECK(part_bytes(65, 64) == 64);
  CHECK(part_bytes(1 << 20, 1 << 19) == 1 << 19);
  CHECK(part_bytes((1 << 19) + 64, 1 << 19) == (1 << 18) + 64);
  for (std::size_t most : {64U, 128U, 4096U, 524288U}) {
    for (std::size_t bytes = 1; bytes < 3'000'000; bytes = bytes * 5 / 4 + 1) {
      const std::size_t part = part_bytes(bytes, most);
      const std::size_t parts = (bytes + part - 1) / part;
      if (part > most || part == 0 || (part % 64 != 0 && part != bytes) || parts > (bytes + most - 1) / most)
        FAIL(bytes << " bytes in slots of " << most << ": parts of " << part);
    }
  }
}
