// SPDX-License-Identifier: Apache-2.0
// The windows of a stream, compared with a model: every packet is delivered once and in order, for any loss,
// reordering and duplication.
#include <cstdint>
#include <cstring>
#include <deque>
#include <iostream>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "../../lib/transport/reliable/pacing.hpp"
#include "../../lib/transport/reliable/receive_window.hpp"
#include "../../lib/transport/reliable/send_window.hpp"

using namespace chorale::transport;
using namespace chorale::transport::reliable;
using verdict = receive_window::verdict;

namespace {

std::byte* filled(packet_pool& pool, std::uint32_t value) {
  std::byte* block = pool.take();
  std::memcpy(block, &value, sizeof value);
  return block;
}
std::uint32_t value_of(std::span<const std::byte> bytes) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace

TEST_CASE("sequence numbers compare across the wrap", "[reliable]") {
  CHECK(distance(0xffffffffU, 0) == 1);
  CHECK(distance(0, 0xffffffffU) == -1);
  CHECK(distance(5, 5) == 0);
  CHECK(distance(0x7fffffffU, 0x80000000U) == 1);
  CHECK(caught_up(0xffffffffULL, 1) == 0x100000001ULL);
  CHECK(caught_up(0x1'00000005ULL, 3) == 0x1'00000005ULL);
  CHECK(caught_up(7, 7) == 7);
}

TEST_CASE("acknowledgements are accepted only for packets that were sent", "[reliable]") {
  packet_pool pool{64, 100};
  send_window out{pool, 0xfffffffeU};
  for (std::uint32_t i = 0; i < 4; ++i) {
    out.push(filled(pool, i), 64);
    if (i < 3) out.mark_sent();
  }
  CHECK(out.outstanding() == 4);
  CHECK(out.acknowledge(0xfffffffdU) == 0);  // before the oldest
  CHECK(out.acknowledge(2) == 0);            // the last one has not been sent
  CHECK(out.acknowledge(0x7fffffffU) == 0);
  CHECK(out.acknowledge(0) == 2);
  CHECK(out.oldest() == 0);
  CHECK(out.acknowledge(0) == 0);
  CHECK(pool.in_use() == 2);
  CHECK(out.acknowledge(1) == 1);
  out.mark_sent();
  CHECK(out.acknowledge(2) == 1);
  CHECK(pool.in_use() == 0);
}

TEST_CASE("only missing packets are retransmitted", "[reliable]") {
  packet_pool pool{64, 100};
  send_window out{pool, 0xfffffff0U};
  for (std::uint32_t i = 0; i < 40; ++i) {
    out.push(filled(pool, i), 64);
    if (i < 38) out.mark_sent();
  }
  const auto resent = [&](std::uint64_t held, bool all) {
    std::vector<std::uint32_t> values;
    out.for_missing(held, all, [&](sequence number, const send_window::entry& e) {
      CHECK(number == 0xfffffff0U + value_of({e.block, e.bytes}));
      values.push_back(value_of({e.block, e.bytes}));
    });
    return values;
  };
  CHECK(resent(0, false).empty());
  CHECK(resent(0b10110, false) == std::vector<std::uint32_t>{0, 1, 4});
  CHECK(resent(1, false) == std::vector<std::uint32_t>{0});
  CHECK(resent(0, true).size() == 38);
  CHECK(resent(~std::uint64_t{0}, true) == std::vector<std::uint32_t>{0});
  CHECK(resent(~std::uint64_t{0}, false) == std::vector<std::uint32_t>{0});
  CHECK(resent(~std::uint64_t{1}, true) == std::vector<std::uint32_t>{0, 1});
}

TEST_CASE("packets that are old, expected, early, and beyond the window", "[reliable]") {
  packet_pool pool{64, 100};
  receive_window in{pool, 0xffffffffU};
  CHECK(in.judge(0xfffffffeU) == verdict::duplicate);
  CHECK(in.judge(0xffffffffU) == verdict::expected);
  CHECK(in.judge(0) == verdict::early);
  CHECK(in.judge(0xffffffffU + 63) == verdict::early);
  CHECK(in.judge(0xffffffffU + 64) == verdict::beyond);
  const std::vector<std::byte> some(10);
  REQUIRE(in.keep(1, some));
  CHECK(in.judge(1) == verdict::duplicate);
  CHECK(in.held() == 0b10);
  CHECK(in.kept_one() == nullptr);
  CHECK_FALSE(in.advance());
  CHECK(in.expected() == 0);
  CHECK(in.advance());
  REQUIRE(in.kept_one() != nullptr);
  CHECK(in.kept_one()->bytes == 10);
  in.drop_kept();
  CHECK_FALSE(in.advance());
  CHECK(in.expected() == 2);
  CHECK(in.held() == 0);
  CHECK(pool.in_use() == 0);
}

TEST_CASE("a packet that is too large or does not fit is not kept", "[reliable]") {
  packet_pool pool{64, 1};
  receive_window in{pool, 0};
  CHECK_FALSE(in.keep(3, std::vector<std::byte>(65)));
  CHECK(in.keep(3, std::vector<std::byte>(64)));
  CHECK_FALSE(in.keep(4, std::vector<std::byte>(1)));
  CHECK(in.held() == 0b100);
}

TEST_CASE("with loss, reordering and duplication each packet is delivered once and in order", "[reliable]") {
  const auto seed = std::random_device{}();
  std::cout << "seed of the lossy way: " << seed << std::endl;
  std::mt19937 chance{seed};
  for (int round = 0; round < 50; ++round) {
    packet_pool sent_pool{64, 64};
    packet_pool kept_pool{64, 1 + chance() % 64};
    const auto first = static_cast<sequence>(0xffffffffU - chance() % 600);
    send_window out{sent_pool, first};
    receive_window in{kept_pool, first};
    struct flying {
      sequence number;
      std::uint32_t value;
    };
    std::vector<flying> way;
    const auto post = [&](sequence number, std::uint32_t value) {
      for (unsigned copies = chance() % 10 == 0 ? 2 : chance() % 5 == 0 ? 0 : 1; copies > 0; --copies)
        way.push_back({number, value});
    };
    constexpr std::uint32_t packets = 1200;
    std::uint32_t delivered = 0;
    const auto deliver = [&](std::uint32_t value) { REQUIRE(value == delivered++); };
    for (std::uint32_t next = 0; delivered < packets;) {
      while (next < packets && out.outstanding() < 32 && chance() % 4 != 0) {
        out.push(filled(sent_pool, next), sizeof next);
        out.mark_sent();
        post(out.next() - 1, next++);
      }
      for (auto arrivals = chance() % 8; arrivals > 0 && !way.empty(); --arrivals) {
        const std::size_t which = chance() % std::min<std::size_t>(way.size(), 6);
        const flying f = way[which];
        way.erase(way.begin() + static_cast<std::ptrdiff_t>(which));
        const auto bytes = std::as_bytes(std::span{&f.value, 1});
        switch (in.judge(f.number)) {
          case verdict::early:
            static_cast<void>(in.keep(f.number, bytes));
            break;
          case verdict::expected: {
            deliver(f.value);
            bool more = in.advance();
            while (more) {
              deliver(value_of(in.kept_one()->span()));
              in.drop_kept();
              more = in.advance();
            }
            break;
          }
          default:
            break;
        }
      }
      if (chance() % 16 == 0) {
        out.acknowledge(in.expected());
        out.for_missing(in.held(), true, [&](sequence number, const send_window::entry& e) {
          post(number, value_of({e.block, e.bytes}));
        });
      }
    }
    out.acknowledge(in.expected());
    CHECK(out.outstanding() == 0);
    CHECK(sent_pool.in_use() == 0);
    CHECK(kept_pool.in_use() == 0);
  }
}

TEST_CASE("timeouts follow the round trip and grow with failures", "[reliable]") {
  using namespace std::chrono_literals;
  round_trip clock{1ms};
  CHECK(clock.timeout() >= 1ms);
  for (int i = 0; i < 100; ++i) clock.sample(100us);
  CHECK(clock.timeout() == 1ms);
  CHECK(clock.transit() == 50us);
  for (int i = 0; i < 200; ++i) clock.sample(2ms);
  CHECK(clock.timeout() >= 2ms);
  CHECK(clock.timeout() < 3ms);
  // A peer that computes for long must not lengthen the timeout.
  for (int i = 0; i < 200; ++i) clock.sample(50ms);
  CHECK(clock.timeout() == 4ms);
  CHECK(clock.transit() == 500us);
  CHECK(clock.timeout(1) == 2 * clock.timeout());
  CHECK(clock.timeout(1000) == round_trip::longest);
}

TEST_CASE("a loss halves the window, acknowledgements restore it", "[reliable]") {
  send_allowance a{32};
  CHECK(a.packets() == 32);
  a.on_loss();
  CHECK(a.packets() == 16);
  for (int i = 0; i < 10; ++i) a.on_loss();
  CHECK(a.packets() == 8);
  for (int i = 0; i < 2000; ++i) a.on_arrival(1);
  CHECK(a.packets() == 32);
  send_allowance narrow{4};
  narrow.on_loss();
  CHECK(narrow.packets() == 4);
}
