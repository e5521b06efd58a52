// SPDX-License-Identifier: Apache-2.0
// The text hash, compared with published values.
#include <cstdint>
#include <string_view>

#include <catch2/catch.hpp>

#include <chorale/core/fnv.hpp>

namespace {

using chorale::detail::fnv1a;

TEST_CASE("fnv1a: the published values", "[fnv]") {
  // From the reference implementation's test vectors.
  STATIC_REQUIRE(fnv1a("") == 0xcbf29ce484222325ULL);
  STATIC_REQUIRE(fnv1a("a") == 0xaf63dc4c8601ec8cULL);
  STATIC_REQUIRE(fnv1a("foobar") == 0x85944171f73967e8ULL);
}

TEST_CASE("fnv1a: continues from a previous hash, and hashes numbers byte by byte", "[fnv]") {
  CHECK(fnv1a("bar", fnv1a("foo")) == fnv1a("foobar"));
  CHECK(fnv1a(std::uint32_t{0x64636261}) == fnv1a("abcd"));
  CHECK(fnv1a(std::uint8_t{0xff}) == fnv1a("\xff"));
  CHECK(fnv1a(std::uint16_t{0}) != fnv1a(std::uint32_t{0}));
}

}  // namespace
