// SPDX-License-Identifier: Apache-2.0
// The rendezvous of long messages: which messages are accepted in which state, and which are refused.
#include "../../lib/transport/connections/rendezvous.hpp"

#include <cstdint>
#include <limits>
#include <random>
#include <string>

#include <catch2/catch.hpp>

#include "../support/seed.hpp"

using namespace chorale::transport;

namespace {

constexpr std::size_t over_4_gib = (std::size_t{5} << 30) + 3;

clear_to_send answer_to(const rendezvous_sender& s, std::size_t bytes) {
  return {.address = 0x1000, .bytes = bytes, .key = 7, .number = s.number()};
}

}  // namespace

TEST_CASE("a rendezvous: request, clearance, data, end, and the next", "[rendezvous]") {
  rendezvous_sender sender;
  rendezvous_receiver receiver;
  for (std::uint32_t n = 0; n < 3; ++n) {
    REQUIRE(sender.now() == rendezvous_sender::state::idle);
    REQUIRE(sender.number() == n);
    sender.ask(over_4_gib + n);
    REQUIRE(receiver.check(sender.number()) == nullptr);
    receiver.clear();
    REQUIRE(sender.on_clear(answer_to(sender, over_4_gib + n)) == nullptr);
    REQUIRE(sender.now() == rendezvous_sender::state::cleared);
    CHECK(sender.place().address == 0x1000);
    CHECK(sender.place().key == 7);
    CHECK(sender.place().bytes == over_4_gib + n);
    sender.send();
    REQUIRE(receiver.on_placed(n) == nullptr);
    REQUIRE(receiver.now() == rendezvous_receiver::state::placed);
    receiver.end();
    sender.end();
  }
}

TEST_CASE("unexpected messages are refused with a reason, and change nothing", "[rendezvous]") {
  rendezvous_sender sender;
  CHECK(std::string{sender.on_clear(answer_to(sender, 0))}.find("not asked") != std::string::npos);
  sender.ask(over_4_gib);
  // Only the low 32 bits are equal.
  CHECK(std::string{sender.on_clear(answer_to(sender, over_4_gib % (std::size_t{1} << 32)))}.find("length") !=
        std::string::npos);
  auto other = answer_to(sender, over_4_gib);
  ++other.number;
  CHECK(std::string{sender.on_clear(other)}.find("another message") != std::string::npos);
  CHECK(sender.now() == rendezvous_sender::state::asked);
  CHECK(sender.on_clear(answer_to(sender, over_4_gib)) == nullptr);
  CHECK(sender.on_clear(answer_to(sender, over_4_gib)) != nullptr);
  sender.send();
  CHECK(sender.on_clear(answer_to(sender, over_4_gib)) != nullptr);
  CHECK(sender.now() == rendezvous_sender::state::sending);

  rendezvous_receiver receiver;
  CHECK(receiver.on_placed(0) != nullptr);
  CHECK(receiver.check(1) != nullptr);
  CHECK(receiver.check(0) == nullptr);
  receiver.clear();
  CHECK(receiver.on_placed(1) != nullptr);
  CHECK(receiver.now() == rendezvous_receiver::state::cleared);
  CHECK(receiver.on_placed(0) == nullptr);
  CHECK(receiver.on_placed(0) != nullptr);
  receiver.end();
  CHECK(receiver.check(0) != nullptr);
  CHECK(receiver.on_placed(1) != nullptr);
}

TEST_CASE("a rendezvous whose data arrive in blocks", "[rendezvous]") {
  rendezvous_sender sender;
  rendezvous_receiver receiver;
  CHECK(receiver.on_copies(0) != nullptr);
  for (std::uint32_t n = 0; n < 2; ++n) {
    sender.ask(7);
    receiver.clear();
    REQUIRE(sender.on_clear({.bytes = 7, .number = n}) == nullptr);
    sender.copy();
    CHECK(sender.on_clear({.bytes = 7, .number = n}) != nullptr);
    sender.end();
    CHECK(receiver.on_copies(n + 1) != nullptr);
    REQUIRE(receiver.on_copies(n) == nullptr);
    CHECK(receiver.on_copies(n) != nullptr);
    CHECK(receiver.on_placed(n) != nullptr);
    CHECK(receiver.now() == rendezvous_receiver::state::copying);
    receiver.place();
    receiver.end();
  }
}

TEST_CASE("for any messages received, data are sent only to the destination of this message",
          "[rendezvous]") {
  std::mt19937_64 random{support::seed()};
  INFO("seed " << support::seed());
  rendezvous_sender sender;
  std::size_t asked = 0;
  int over = 0;
  for (int i = 0; i < 100'000; ++i) {
    using state = rendezvous_sender::state;
    const auto before = sender.now();
    switch (random() % 4) {
      case 0:
        if (before == state::idle) sender.ask(asked = random() % 4);
        break;
      case 1: {
        const clear_to_send any{.address = random(),
                                .bytes = random() % 4,
                                .key = 1,
                                .number = sender.number() + static_cast<std::uint32_t>(random() % 2)};
        const bool right = before == state::asked && any.bytes == asked && any.number == sender.number();
        REQUIRE((sender.on_clear(any) == nullptr) == right);
        REQUIRE(sender.now() == (right ? state::cleared : before));
        if (right) REQUIRE(sender.place().address == any.address);
        break;
      }
      case 2:
        if (before == state::cleared) sender.send();
        break;
      default:
        if (before == state::sending) {
          sender.end();
          ++over;
        }
    }
  }
  CHECK(over > 1000);
}
