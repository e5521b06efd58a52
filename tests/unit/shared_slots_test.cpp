// SPDX-License-Identifier: Apache-2.0
// Shared slots: the last arriver, the payloads read, and calls that differ.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/algorithm/shared_slots.hpp>

#include "../support/instrumented.hpp"
#include "../support/seed.hpp"

using chorale::call_id;
using chorale::shared_slots;

namespace {

constexpr std::size_t slot_bytes = 200;

/// Zeroed memory for a group, with a view for each rank.
struct group {
  explicit group(int ranks) : words((shared_slots::bytes(ranks, slot_bytes) + 15) / 16) {
    for (int r = 0; r < ranks; ++r)
      views.emplace_back(std::as_writable_bytes(std::span{words}), r, ranks, slot_bytes);
  }
  struct alignas(16) word {
    std::array<std::byte, 16> bytes{};
  };
  std::vector<word> words;
  std::vector<shared_slots> views;
};

call_id numbered(std::uint64_t number, std::uint32_t signature = 7) {
  return {number, signature, chorale::operation::allreduce};
}

/// Byte `at` of a rank's payload in a call.
std::byte value(int rank, std::uint64_t number, std::size_t at) {
  return static_cast<std::byte>(static_cast<std::uint64_t>(rank) * 31 + number * 7 + at);
}

}  // namespace

TEST_CASE("shared slots: the last arriver, and no other rank, finds all payloads", "[shared_slots]") {
  std::mt19937_64 random{support::seed()};
  for (const int ranks : {1, 2, 3, 5, 8, 17}) {
    group all{ranks};
    std::vector<int> order(static_cast<std::size_t>(ranks));
    std::iota(order.begin(), order.end(), 0);
    for (std::uint64_t number = 1; number <= 40; ++number) {
      // Sizes around the limit up to which a payload shares a cache line with its flag.
      const std::size_t bytes = std::array<std::size_t, 5>{
          0, 1, shared_slots::short_bytes, shared_slots::short_bytes + 1, slot_bytes}[number % 5];
      std::shuffle(order.begin(), order.end(), random);
      for (std::size_t i = 0; i < order.size(); ++i) {
        const int rank = order[i];
        shared_slots& mine = all.views[static_cast<std::size_t>(rank)];
        mine.begin(numbered(number));
        for (std::size_t at = 0; at < bytes; ++at) mine.mine(bytes)[at] = value(rank, number, at);
        const bool is_last = mine.arrive();
        REQUIRE(is_last == (i + 1 == order.size()));
        REQUIRE_FALSE(mine.is_published());
        if (!is_last) {
          // The awaited rank arrives later.
          const auto place = std::find(order.begin(), order.end(), mine.awaited());
          REQUIRE(place - order.begin() > static_cast<std::ptrdiff_t>(i));
          continue;
        }
        CHECK(mine.awaited() == -1);
        CHECK(mine.agrees());
        CHECK(mine.stranger() == -1);
        for (std::size_t at = 0; at < bytes; ++at) mine.result(bytes)[at] = value(ranks, number, at);
        mine.publish();
      }
      for (shared_slots& view : all.views) {
        REQUIRE(view.is_published());
        for (std::size_t at = 0; at < bytes; ++at)
          REQUIRE(view.result(bytes)[at] == value(ranks, number, at));
        for (int r = 0; r < ranks; ++r)
          for (std::size_t at = 0; at < bytes; ++at) REQUIRE(view.of(r, bytes)[at] == value(r, number, at));
      }
    }
  }
}

TEST_CASE("shared slots: the last arriver detects a rank that makes another call", "[shared_slots]") {
  for (const auto& other : {numbered(9), numbered(8, 6)}) {
    for (int stranger = 0; stranger < 5; ++stranger) {
      group all{5};
      for (int r = 0; r < 5; ++r) {
        shared_slots& mine = all.views[static_cast<std::size_t>(r)];
        mine.begin(r == stranger ? other : numbered(8));
        const bool is_last = mine.arrive();
        REQUIRE(is_last == (r == 4));
        if (!is_last) continue;
        CHECK_FALSE(mine.agrees());
        // For the stranger, all other ranks make a different call.
        CHECK(mine.stranger() == (stranger == 4 ? 0 : stranger));
        CHECK(mine.call_of(stranger) == other.number);
      }
    }
  }
}

TEST_CASE("shared slots: threads in many consecutive calls", "[shared_slots]") {
  const int ranks = 4;
  const std::uint64_t calls = support::instrumented ? 500 : 5'000;
  group all{ranks};
  std::vector<std::uint64_t> wrong(ranks);
  const auto body = [&](int rank) {
    shared_slots& mine = all.views[static_cast<std::size_t>(rank)];
    for (std::uint64_t number = 1; number <= calls; ++number) {
      const std::uint64_t operand = number * static_cast<std::uint64_t>(rank + 1);
      mine.begin(numbered(number));
      std::memcpy(mine.mine(sizeof operand), &operand, sizeof operand);
      if (mine.arrive()) {
        std::uint64_t sum = 0;
        for (int r = 0; r < ranks; ++r) {
          std::uint64_t theirs = 0;
          std::memcpy(&theirs, mine.of(r, sizeof theirs).data(), sizeof theirs);
          sum += theirs;
        }
        std::memcpy(mine.result(sizeof sum).data(), &sum, sizeof sum);
        mine.publish();
      } else {
        while (!mine.is_published()) std::this_thread::yield();
      }
      std::uint64_t sum = 0;
      std::memcpy(&sum, mine.result(sizeof sum).data(), sizeof sum);
      if (sum != number * 10) ++wrong[static_cast<std::size_t>(rank)];
      // Payloads of this use may be read until the use after the next.
      std::uint64_t next = 0;
      std::memcpy(&next, mine.of((rank + 1) % ranks, sizeof next).data(), sizeof next);
      if (next != number * static_cast<std::uint64_t>((rank + 1) % ranks + 1))
        ++wrong[static_cast<std::size_t>(rank)];
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int r = 0; r < ranks; ++r) threads.emplace_back(body, r);
  }
  CHECK(wrong == std::vector<std::uint64_t>(ranks));
}
