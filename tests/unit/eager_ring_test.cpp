// SPDX-License-Identifier: Apache-2.0
// What a receiver finds in a ring of blocks, for any bytes that a peer may have written.
#include "../../lib/transport/connections/eager_ring.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/transport/wire/mailbox.hpp>

using namespace chorale::transport;

namespace {

constexpr std::size_t longest = 100;
constexpr std::uint32_t ring_blocks = 3;
constexpr mailbox_layout layout{longest + sizeof(mailbox_trailer), ring_blocks};

/// An inbox aligned to 8 bytes, and the peer that writes to it.
struct inbox {
  std::vector<std::uint64_t> words = std::vector<std::uint64_t>(layout.total_bytes() / 8 + 1);

  [[nodiscard]] std::byte* data() { return reinterpret_cast<std::byte*>(words.data()); }
  /// Writes message `number` into block `block`: `bytes` bytes of value `value`.
  void put(std::uint64_t block, std::uint64_t number, std::uint32_t bytes, std::byte value) {
    const mailbox_trailer trailer{bytes, 0, 0, static_cast<std::uint32_t>(number + 1)};
    std::byte* end = data() + layout.block_end(block);
    if (bytes <= longest) std::memset(end - sizeof trailer - padded(bytes), static_cast<int>(value), bytes);
    std::memcpy(end - sizeof trailer, &trailer, sizeof trailer);
  }
};

}  // namespace

TEST_CASE("a ring has a message once its counter has arrived, and then all of it", "[eager_ring]") {
  const eager_ring ring{longest, ring_blocks};
  CHECK(ring.inbox_bytes() == layout.total_bytes());
  inbox in;
  for (std::uint64_t n : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0xffff'fffe},
                          std::uint64_t{0xffff'ffff}, std::uint64_t{0x1'0000'0000}}) {
    in = {};
    if (n >= ring_blocks) in.put(n, n - ring_blocks, 8, std::byte{1});
    CHECK_FALSE(ring.find(in.data(), n).is_there);
    for (const std::uint32_t bytes : {0U, 1U, 15U, 16U, 17U, 99U, 100U}) {
      in.put(n, n, bytes, std::byte{9});
      const auto found = ring.find(in.data(), n);
      REQUIRE(found.is_there);
      REQUIRE(found.bytes.size() == bytes);
      for (const std::byte b : found.bytes) CHECK(b == std::byte{9});
    }
    CHECK_FALSE(ring.find(in.data(), n + ring_blocks).is_there);
  }
}

TEST_CASE("data longer than a block are not a message", "[eager_ring]") {
  const eager_ring ring{longest, ring_blocks};
  for (const std::uint32_t bytes : {101U, 112U, 0x7fff'ffffU, 0xffff'fff1U, 0xffff'ffffU}) {
    inbox in;
    in.put(1, 1, bytes, std::byte{1});
    const auto found = ring.find(in.data(), 1);
    CHECK(found.is_there);
    CHECK(found.bytes.empty());
  }
}

TEST_CASE("data over a message that was not released are not a message", "[eager_ring]") {
  const eager_ring ring{longest, ring_blocks};
  inbox in;
  in.put(4, 4 + ring_blocks, 8, std::byte{1});
  const auto found = ring.find(in.data(), 4);
  CHECK(found.is_there);
  CHECK(found.bytes.empty());
  // A message that is over, or of another block: nothing has arrived yet.
  for (const std::uint64_t number : {1U, 5U, 6U, 8U}) {
    in.put(4, number, 8, std::byte{1});
    CHECK_FALSE(ring.find(in.data(), 4).is_there);
  }
}
