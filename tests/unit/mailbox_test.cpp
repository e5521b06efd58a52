// SPDX-License-Identifier: Apache-2.0
// The layout of a mailbox, and the arithmetic of its counters across wrap-around.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include <catch2/catch.hpp>

#include <chorale/transport/memory/memory_report.hpp>
#include <chorale/transport/wire/mailbox.hpp>

using namespace chorale::transport;
using chorale::call_id;

namespace {

/// The last call numbers that a signal word can carry: it keeps 46 bits.
constexpr std::uint64_t wrap = std::uint64_t{1} << 46;

}  // namespace

TEST_CASE("a signal satisfies waits for its call or an earlier one", "[mailbox]") {
  const auto word = [](std::uint64_t number) { return signal_word({number, 0x1234'5678}); };
  for (const std::uint64_t base : {std::uint64_t{1}, std::uint64_t{1000}, wrap - 3, wrap, wrap + 1,
                                   2 * wrap - 1, std::uint64_t{1} << 45, (std::uint64_t{1} << 45) - 1}) {
    INFO("call " << base);
    CHECK(reached(word(base), word(base)));
    CHECK(reached(word(base + 1), word(base)));
    CHECK_FALSE(reached(word(base), word(base + 1)));
    CHECK_FALSE(reached(word(base), word(base + 2)));
    const std::uint64_t other = signal_word({base, 0x1235'5678});
    CHECK(contradicts(other, word(base)));
    CHECK_FALSE(contradicts(word(base), word(base)));
    CHECK_FALSE(contradicts(other, word(base + 1)));
  }
}

TEST_CASE("a signal satisfies waits of its phase or an earlier one of its call", "[mailbox]") {
  for (const std::uint64_t number : {std::uint64_t{1}, std::uint64_t{1000}, wrap - 1, wrap}) {
    const call_id now{number, 0x1234'5678};
    const call_id other{number, 0x8765'4321};
    for (int phase = 0; phase < call_id::most_phases; ++phase) {
      INFO("call " << number << ", phase " << phase);
      const std::uint64_t wanted = signal_word(now.later(phase));
      CHECK_FALSE(
          reached(signal_word(call_id{number - 1, 0x1234'5678}.later(call_id::most_phases - 1)), wanted));
      CHECK(reached(signal_word({number + 1, 0x1234'5678}), wanted));
      for (int seen = 0; seen < call_id::most_phases; ++seen) {
        CHECK(reached(signal_word(now.later(seen)), wanted) == (seen >= phase));
        CHECK_FALSE(contradicts(signal_word(now.later(seen)), wanted));
        CHECK(contradicts(signal_word(other.later(seen)), wanted));
      }
    }
  }
}

TEST_CASE("unwritten memory satisfies no wait", "[mailbox]") {
  CHECK_FALSE(reached(0, signal_word({1, 0})));
  CHECK_FALSE(reached(0, signal_word({1, 0xffff'ffff})));
  CHECK_FALSE(reached(0, signal_word({2, 7})));
}

TEST_CASE("the signature in a signal does not affect the comparison of call numbers", "[mailbox]") {
  CHECK(reached(signal_word({5, 0}), signal_word({5, 0xffff'ffff})));
  CHECK(reached(signal_word({5, 0xffff'ffff}), signal_word({5, 0})));
  CHECK(signal_word({5, 0}) != signal_word({5, 0x10000}));
  CHECK_FALSE(reached(signal_word({5, 0xffff'ffff}), signal_word({6, 0})));
}

TEST_CASE("blocks follow each other without overlapping each other or the words", "[mailbox]") {
  for (const std::uint32_t blocks : {2U, 3U, 8U, 1024U}) {
    for (const std::size_t size : {256U, 257U, 320U, 1025U, 3073U, 4085U, 8192U, 8193U}) {
      const mailbox_layout layout{size, blocks};
      INFO(blocks << " blocks of " << size << " bytes");
      CHECK(layout.payload_bytes() == size - sizeof(mailbox_trailer));
      // Whole cache lines; a block of whole pages gets one line more, so that counters do not share a cache
      // set.
      const std::size_t distance = size == 8192 ? 8256 : size == 4085 ? 4160 : (size + 63) / 64 * 64;
      for (std::uint64_t n = 0; n < 2 * blocks; ++n) {
        const std::size_t end = layout.block_end(n);
        CHECK(end % 64 == 0);
        CHECK(end - size >= mailbox_layout::blocks_offset);
        CHECK(end <= layout.total_bytes());
        CHECK(layout.block_end(n + blocks) == end);
        if (n % blocks != 0) CHECK(end - layout.block_end(n - 1) == distance);
      }
    }
  }
  CHECK(mailbox_layout::notification_offset >= mailbox_layout::signal_offset + 64);
  CHECK(mailbox_layout::blocks_offset >= mailbox_layout::notification_offset + 64);
}

TEST_CASE("end_after() gives the end of the next message's block", "[mailbox]") {
  for (const std::uint32_t blocks : {2U, 3U, 16U, 1024U}) {
    for (const std::size_t size : {256U, 1000U, 8192U, 8256U}) {
      const mailbox_layout layout{size, blocks};
      std::size_t end = layout.block_end(0);
      for (std::uint64_t n = 0; n < 3 * blocks; ++n, end = layout.end_after(end)) {
        INFO("message " << n << " of " << blocks << " blocks of " << size << " bytes");
        REQUIRE(end == layout.block_end(n));
      }
    }
  }
}

TEST_CASE("a message of at most 48 bytes shares a cache line with its counter", "[mailbox]") {
  CHECK(mailbox_layout::one_line_bytes == 48);
  for (std::size_t size = 256; size <= 8256; size += 50) {
    const mailbox_layout layout{size, 3};
    for (std::uint64_t n = 0; n < 3; ++n) {
      const std::size_t last = layout.block_end(n) - 1;
      const auto first = [&](std::size_t bytes) {
        return last + 1 - sizeof(mailbox_trailer) - padded(bytes);
      };
      for (std::size_t bytes = 0; bytes <= mailbox_layout::one_line_bytes; ++bytes)
        CHECK(first(bytes) / 64 == last / 64);
      CHECK(first(mailbox_layout::one_line_bytes + 1) / 64 != last / 64);
    }
  }
}

TEST_CASE("the largest payload fits into a block with its padding and trailer", "[mailbox]") {
  for (std::size_t size = 256; size <= 8192; size += 61) {
    const mailbox_layout layout{size, 2};
    CHECK(padded(layout.payload_bytes()) + sizeof(mailbox_trailer) <= layout.message_bytes());
    CHECK(layout.block_end(1) - layout.block_end(0) >= layout.message_bytes());
  }
}

TEST_CASE("a short message has little padding, and the payload of a longer one begins on a cache line",
          "[mailbox]") {
  CHECK(padded(0) == 0);
  CHECK(padded(1) == 16);
  CHECK(padded(16) == 16);
  CHECK(padded(17) == 32);
  CHECK(padded(240) == 240);
  CHECK(padded(241) == 304);
  for (std::size_t bytes = 241; bytes <= 8192; bytes += 17) {
    const mailbox_layout layout{bytes + sizeof(mailbox_trailer), 3};
    for (std::uint64_t n = 0; n < 3; ++n) {
      const std::size_t begins = layout.block_end(n) - sizeof(mailbox_trailer) - padded(bytes);
      INFO(bytes << " bytes in block " << n);
      CHECK(begins % 64 == 0);
      CHECK(begins + bytes + 64 > layout.block_end(n) - sizeof(mailbox_trailer));
      CHECK(begins >= (n == 0 ? mailbox_layout::blocks_offset : layout.block_end(n - 1)));
    }
  }
}

TEST_CASE("the counter of a block never equals its value of the previous round", "[mailbox]") {
  // Message number n (from 0) carries the low 32 bits of n + 1 and is in block n mod blocks.
  const auto counter = [](std::uint64_t n) { return static_cast<std::uint32_t>(n + 1); };
  for (const std::uint32_t blocks : {2U, 3U, 8U, 1024U}) {
    for (const std::uint64_t n :
         {std::uint64_t{blocks}, (std::uint64_t{1} << 32) - 2, (std::uint64_t{1} << 32) - 1,
          std::uint64_t{1} << 32, (std::uint64_t{1} << 33) + 5}) {
      CHECK(counter(n) != counter(n - blocks));
    }
  }
}

TEST_CASE("a message that a device copies byte by byte arrives only with its last byte that changes",
          "[mailbox]") {
  const auto bytes_of = [](std::uint64_t n, std::uint32_t call) {
    std::array<std::byte, sizeof(mailbox_trailer)> raw{};
    const mailbox_trailer t{
        .bytes = call * 7, .signature = ~call, .call = call, .count = static_cast<std::uint32_t>(n + 1)};
    std::memcpy(raw.data(), &t, sizeof t);
    return raw;
  };
  for (const std::uint32_t blocks : {2U, 3U, 16U, 300U, 1024U}) {
    for (const std::uint64_t n : {std::uint64_t{blocks}, std::uint64_t{1023}, std::uint64_t{1024},
                                  std::uint64_t{0xfffe}, std::uint64_t{0xffff}, std::uint64_t{0x1'0000},
                                  (std::uint64_t{1} << 32) - 1, std::uint64_t{1} << 32}) {
      if (n < blocks) continue;
      auto memory = bytes_of(n - blocks, 0x0102'03fe);
      const auto message = bytes_of(n, 0x0102'0403);
      for (std::size_t copied = 0; copied <= message.size(); ++copied) {
        std::memcpy(memory.data(), message.data(), copied);
        std::uint64_t word = 0;
        std::memcpy(&word, memory.data() + memory.size() - sizeof word, sizeof word);
        INFO("message " << n << " of " << blocks << " blocks, " << copied << " bytes copied");
        if (has_arrived(word, n)) CHECK(memory == message);
      }
      CHECK(memory == message);
    }
  }
}

TEST_CASE("a message that a completion announces is never seen before, whichever of its bytes are there",
          "[mailbox]") {
  for (const std::uint32_t blocks : {2U, 3U, 16U, 127U, 128U, 255U, 256U, 300U, 1024U}) {
    for (std::uint64_t n = std::uint64_t{1} << 32; n < (std::uint64_t{1} << 32) + 0x2'0000; n += 37) {
      const auto before = static_cast<std::uint32_t>(n + 1 - blocks);
      const std::uint32_t written = unseen(static_cast<std::uint32_t>(n + 1), blocks);
      for (unsigned there = 0; there < 16; ++there) {
        std::uint32_t bytes = 0;
        for (unsigned b = 0; b < 4; ++b)
          if ((there >> b & 1) != 0) bytes |= 0xffU << 8 * b;
        const std::uint64_t word = std::uint64_t{(written & bytes) | (before & ~bytes)} << 32;
        if (has_arrived(word, n) || is_overrun(word, n, blocks))
          FAIL("message " << n << " of " << blocks << " blocks is seen by bytes " << there);
      }
    }
  }
}

TEST_CASE("a signal that a device writes byte by byte never appears to be of a later call", "[mailbox]") {
  for (const std::uint64_t number :
       {std::uint64_t{1}, std::uint64_t{0xff}, std::uint64_t{0x100}, std::uint64_t{0xffff},
        std::uint64_t{0x1'0000}, std::uint64_t{0xff'ffff}, std::uint64_t{1} << 40}) {
    const std::uint64_t before = signal_word({number, 0x1234'5678});
    const std::uint64_t after = signal_word({number + 1, 0x8765'4321});
    for (std::size_t copied = 0; copied <= sizeof after; ++copied) {
      std::uint64_t seen = before;
      std::memcpy(&seen, &after, copied);
      INFO("call " << number + 1 << ", " << copied << " bytes copied");
      if (reached(seen, after)) CHECK(seen == after);
    }
  }
}

TEST_CASE("the memory of send queues is computed for the layout of mlx5", "[mailbox]") {
  // 192 bytes of header, 4 of a length and 512 of data are 12 units of 64; 128 of these are 96 KiB.
  CHECK(queue_pair_bytes(128, 512) == 512 + 128 * 1024);
  CHECK(queue_pair_bytes(128, 8256) == queue_pair_bytes(128, 512));
  CHECK(queue_pair_bytes(128, 316) == 512 + 64 * 1024);
  CHECK(queue_pair_bytes(1, 0) == 512 + 256);
}
