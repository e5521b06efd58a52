// SPDX-License-Identifier: Apache-2.0
// The wire format of streams, and the check of accesses to exposed memory.
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include <catch2/catch.hpp>

#include "../../lib/transport/reliable/exposures.hpp"
#include "../../lib/transport/reliable/packet.hpp"

using namespace chorale::transport::reliable;

namespace {

std::vector<std::byte> packet_of(packet_type type, std::size_t bytes_behind, std::uint8_t flags = 0) {
  packet_header head{};
  head.number = 7;
  head.type = static_cast<std::uint8_t>(type);
  head.flags = flags;
  std::vector<std::byte> bytes(sizeof head + bytes_behind, std::byte{1});
  std::memcpy(bytes.data(), &head, sizeof head);
  return bytes;
}
bool reads(packet_type type, std::size_t bytes_behind, std::uint8_t flags = 0) {
  return read_packet(packet_of(type, bytes_behind, flags)).has_value();
}

}  // namespace

TEST_CASE("a packet is read if it has the size of its type", "[reliable]") {
  for (const std::size_t payload : {0U, 1U, 4000U}) CHECK(reads(packet_type::message, payload));
  CHECK_FALSE(reads(packet_type::put, sizeof(put_body) - 1));
  CHECK(reads(packet_type::put, sizeof(put_body)));
  CHECK(reads(packet_type::put, sizeof(put_body) + 100));
  CHECK(reads(packet_type::read_request, sizeof(read_body)));
  CHECK_FALSE(reads(packet_type::read_request, sizeof(read_body) + 1));
  CHECK(reads(packet_type::read_reply, sizeof(reply_body) + 5));
  CHECK_FALSE(reads(packet_type::atomic_request, sizeof(atomic_body)));  // an unknown operation
  CHECK(reads(packet_type::atomic_reply, sizeof(atomic_reply_body)));
  CHECK(reads(packet_type::refusal, sizeof(refusal_body)));
  CHECK(reads(packet_type::last_mark, 0));
  CHECK_FALSE(reads(packet_type::last_mark, 1));
  CHECK_FALSE(reads(static_cast<packet_type>(0), 0));
  CHECK_FALSE(reads(static_cast<packet_type>(200), 64));
  CHECK_FALSE(reads(packet_type::message, 0, 0x80));
  for (std::size_t size = 0; size < sizeof(packet_header); ++size)
    CHECK_FALSE(read_packet(std::vector<std::byte>(size)).has_value());
}

TEST_CASE("an atomic request survives a round trip", "[reliable]") {
  atomic_body body{0x1234, 5, 6, 77, 8, static_cast<std::uint32_t>(atomic_operation::compare_swap), 0};
  auto bytes = packet_of(packet_type::atomic_request, sizeof body);
  std::memcpy(bytes.data() + sizeof(packet_header), &body, sizeof body);
  const auto p = read_packet(bytes);
  REQUIRE(p);
  const auto& read = std::get<atomic_body>(p->body);
  CHECK(read.address == 0x1234);
  CHECK(read.second == 6);
  CHECK(read.key == 77);
  CHECK(p->header.number == 7);
  CHECK(p->payload.empty());
}

TEST_CASE("accesses are checked by key, bounds and rights", "[reliable]") {
  exposures table{42};
  std::array<std::byte, 100> memory{};
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  const auto key = table.add(memory, true);
  REQUIRE(key != 0);
  CHECK_FALSE(table.check(key, begin, 100, true));
  CHECK_FALSE(table.check(key, begin + 99, 1, true));
  CHECK_FALSE(table.check(key, begin + 100, 0, true));
  CHECK(table.check(key, begin, 101, true) == refusal_reason::bounds);
  CHECK(table.check(key, begin - 1, 1, false) == refusal_reason::bounds);
  CHECK(table.check(key, begin + 101, 0, false) == refusal_reason::bounds);
  CHECK(table.check(key, begin + 50, ~std::uint64_t{0}, false) == refusal_reason::bounds);
  CHECK(table.check(key, ~std::uint64_t{0}, 2, false) == refusal_reason::bounds);
  CHECK(table.check(key + 1, begin, 1, false) == refusal_reason::key);
  CHECK(table.check(0, begin, 1, false) == refusal_reason::key);
  const auto reading = table.add(memory, false);
  CHECK(reading != key);
  CHECK_FALSE(table.check(reading, begin, 100, false));
  CHECK(table.check(reading, begin, 1, true) == refusal_reason::rights);
}

TEST_CASE("memory stays exposed until removed as often as added, under the same key", "[reliable]") {
  exposures table{42};
  std::array<std::byte, 100> memory{};
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  const auto key = table.add(memory, true);
  CHECK(table.add(memory, true) == key);
  CHECK(table.bytes() == 100);
  table.remove(key, memory, true);
  CHECK_FALSE(table.check(key, begin, 1, true));
  table.remove(key, memory, true);
  CHECK(table.check(key, begin, 1, true) == refusal_reason::key);
  CHECK(table.bytes() == 0);
  table.remove(key, memory, true);
  CHECK(table.add(memory, true) == key);
  // Another group has different keys for the same memory.
  CHECK(exposures{43}.add(memory, true) != key);
  CHECK(table.add(std::span<const std::byte>{}, true) == 0);
}

TEST_CASE("memories under one key are checked separately", "[reliable]") {
  exposures table{1};
  std::array<std::byte, 100> memory{};
  const std::span all{memory};
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  table.add_as(9, all.first(10), true);
  table.add_as(9, all.subspan(50, 10), true);
  CHECK_FALSE(table.check(9, begin + 5, 5, true));
  CHECK_FALSE(table.check(9, begin + 52, 8, true));
  CHECK(table.check(9, begin + 20, 1, true) == refusal_reason::bounds);
  CHECK(table.check(9, begin + 5, 50, true) == refusal_reason::bounds);
  table.remove(9, all.first(10), true);
  CHECK(table.check(9, begin, 1, true) == refusal_reason::bounds);
  CHECK_FALSE(table.check(9, begin + 50, 10, true));
}
