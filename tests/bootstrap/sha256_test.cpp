// SPDX-License-Identifier: Apache-2.0
// Test vectors of FIPS 180-4 and RFC 4231, hashed in one piece and in many.
#include "../../lib/bootstrap/sha256.hpp"

#include <cstddef>
#include <random>
#include <string>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "../support/seed.hpp"

using namespace chorale::bootstrap;

namespace {

std::string in_hex(const digest& hash) {
  std::string text;
  for (const std::byte b : hash) text += fmt::format("{:02x}", std::to_integer<int>(b));
  return text;
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span{text});
}

}  // namespace

TEST_CASE("SHA-256 of texts whose hash is known", "[bootstrap]") {
  CHECK(in_hex(hash_of({})) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(in_hex(hash_of(bytes_of("abc"))) ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(in_hex(hash_of(bytes_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"))) ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(in_hex(hash_of(bytes_of(std::string(1'000'000, 'a')))) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("HMAC of RFC 4231, test cases 1, 2 and 6", "[bootstrap]") {
  CHECK(in_hex(keyed_hash(bytes_of(std::string(20, '\x0b')), {bytes_of("Hi There")})) ==
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  CHECK(in_hex(keyed_hash(bytes_of("Jefe"), {bytes_of("what do ya want "), bytes_of("for nothing?")})) ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  CHECK(in_hex(keyed_hash(bytes_of(std::string(131, '\xaa')),
                          {bytes_of("Test Using Larger Than Block-Size Key - Hash Key First")})) ==
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST_CASE("a hash does not depend on how the bytes come", "[bootstrap]") {
  std::mt19937_64 random{support::seed()};
  for (std::size_t size = 0; size < 300; ++size) {
    std::string text(size, ' ');
    for (char& c : text) c = static_cast<char>(random());
    sha256 in_parts;
    for (auto left = bytes_of(text); !left.empty();) {
      const std::size_t some = std::uniform_int_distribution<std::size_t>{0, left.size()}(random);
      in_parts.add(left.first(some));
      left = left.subspan(some);
    }
    REQUIRE(in_parts.value() == hash_of(bytes_of(text)));
  }
}
