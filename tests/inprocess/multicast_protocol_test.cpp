// SPDX-License-Identifier: Apache-2.0
// The multicast protocol step by step: datagrams, questions, retransmissions.
#include <thread>

#include <catch2/catch.hpp>

#include "multicast_steps.hpp"

using namespace inprocess;
using namespace chorale::transport;
using chorale::call_id;
using namespace std::chrono_literals;

TEST_CASE("signals cost one multicast each and nothing else", "[multicast]") {
  team all(5);
  for (std::uint64_t n = 1; n <= 300; ++n) {
    const int root = static_cast<int>(n % 5);
    until([&] { return all.group(root).try_signal(call(n)); });
    for (int r = 0; r < 5; ++r) {
      if (r != root) until([&] { return all.group(r).try_signalled(root, call(n)); });
    }
  }
  for (int r = 0; r < 5; ++r) {
    const auto s = all.statistics(r);
    CHECK(s.signals == 60);
    CHECK(s.repairs + s.naks_sent + s.naks_received + s.acknowledgements + s.questions + s.answers == 0);
    CHECK(s.duplicates + s.refused == 0);
  }
}

TEST_CASE("a later signal satisfies a wait for an earlier one", "[multicast]") {
  team all(2);
  CHECK_FALSE(all.group(1).try_signalled(0, call(4)));
  until([&] { return all.group(0).try_signal(call(3)); });
  CHECK_FALSE(all.group(1).try_signalled(0, call(4)));
  until([&] { return all.group(0).try_signal(call(7)); });
  until([&] { return all.group(1).try_signalled(0, call(4)); });
  CHECK(all.group(1).try_signalled(0, call(7)));
  CHECK_FALSE(all.group(1).try_signalled(0, call(8)));
}

TEST_CASE("messages arrive in order, also across the wrap, and are acknowledged by half windows",
          "[multicast]") {
  constexpr std::uint32_t messages = 200;
  static_assert(first_multicast + messages < first_multicast, "it wraps");
  team all(4);
  for (std::uint64_t i = 0; i < messages; ++i) {
    const auto bytes = payload(i);
    until([&] {
      all[1].engine().progress();
      return all.group(1).try_send(call(i), bytes);
    });
    for (const int r : {0, 2, 3}) until([&] { return receives(all, r, 1, i); });
  }
  std::uint64_t acknowledgements = 0;
  for (const int r : {0, 2, 3}) {
    const auto s = all.statistics(r);
    CHECK(s.naks_sent + s.duplicates + s.refused == 0);
    CHECK(s.acknowledgements >= messages / 16);
    acknowledgements += s.acknowledgements;
  }
  CHECK(acknowledgements <= 3 * (messages / 16 + 1));
  CHECK(all.statistics(1).messages == messages);
  CHECK(all.statistics(1).repairs + all.statistics(1).questions == 0);
}

TEST_CASE("one repair answers the NAKs of all ranks", "[multicast]") {
  constexpr int size = 13;
  auto c = team::impatient();
  team all(size, c);
  for (std::uint64_t n = 1; n <= room + 5; ++n) until([&] { return all.group(0).try_signal(call(n)); });
  // No rank has polled, so the last messages are lost. All ranks send NAKs before the sender polls.
  std::this_thread::sleep_for(5ms);
  for (int r = 1; r < size; ++r) {
    until([&] {
      CHECK_FALSE(all.group(r).try_signalled(0, call(room + 5)));
      all[r].engine().progress();
      return all.statistics(r).naks_sent > 0;
    });
  }
  all[0].engine().progress();
  for (int r = 1; r < size; ++r) {
    until([&] { return all.group(r).try_signalled(0, call(room + 5)); });
    CHECK(all.statistics(r).naks_sent >= 1);
  }
  CHECK(all.statistics(0).naks_received >= size - 1);
  // More than one only if this thread did not run for half a millisecond in between.
  CHECK(all.statistics(0).repairs < all.statistics(0).naks_received / 2);
}

TEST_CASE("a rank that receives the repair sends no NAK", "[multicast]") {
  constexpr int size = 13;
  team all(size, team::impatient());
  for (std::uint64_t n = 1; n <= room + 1; ++n) until([&] { return all.group(0).try_signal(call(n)); });
  std::this_thread::sleep_for(5ms);
  // All wait; the first whose patience ends sends a NAK, and is answered before the others poll again.
  for (int r = 1; r < size; ++r) {
    CHECK_FALSE(all.group(r).try_signalled(0, call(room + 1)));
    if (r > 1) all[r].engine().progress();  // its patience starts here
  }
  until([&] {
    all[1].engine().progress();
    all[0].engine().progress();
    return all.group(1).try_signalled(0, call(room + 1));
  });
  std::this_thread::sleep_for(40ms);
  for (int r = 2; r < size; ++r) {
    all[r].engine().progress();
    CHECK(all.group(r).try_signalled(0, call(room + 1)));
    CHECK(all.statistics(r).naks_sent == 0);
  }
  CHECK(all.statistics(0).repairs >= 1);
}

TEST_CASE("lost messages are retransmitted, and only those", "[multicast]") {
  team all(3, team::impatient());
  // Rank 2 does not poll, so that it alone loses the last of 24 messages that follow signals.
  constexpr std::uint64_t lost = 14;
  constexpr std::uint64_t messages = 24;
  for (std::uint64_t n = 1; n <= room - messages + lost; ++n) {
    until([&] { return all.group(0).try_signal(call(n)); });
    until([&] { return all.group(1).try_signalled(0, call(n)); });
  }
  for (std::uint64_t i = 0; i < messages; ++i) {
    REQUIRE(all.group(0).try_send(call(i), payload(i)));
    until([&] { return receives(all, 1, 0, i); });
  }
  std::this_thread::sleep_for(5ms);
  for (std::uint64_t i = 0; i < messages; ++i) {
    until([&] {
      const bool got = receives(all, 2, 0, i);
      if (!got) all[2].engine().progress();
      all[0].engine().progress();
      return got;
    });
  }
  CHECK(all.statistics(1).naks_sent == 0);
  CHECK(all.statistics(2).naks_sent >= 1);
  CHECK(all.statistics(0).repairs >= lost);
  all[1].engine().progress();
  // Rank 1 receives these messages again, and drops them.
  CHECK(all.statistics(1).duplicates == all.statistics(0).repairs);
  CHECK(all.statistics(1).refused == 0);
}

TEST_CASE("a sender waits for the slowest rank, and asks it", "[multicast]") {
  team all(3, team::impatient());
  std::uint64_t sent = 0;
  while (all.group(0).try_send(call(sent), payload(sent))) ++sent;
  CHECK(sent == multicast_window);
  for (std::uint64_t i = 0; i < sent; ++i) until([&] { return receives(all, 1, 0, i); });
  all[0].engine().progress();
  CHECK_FALSE(all.group(0).try_send(call(sent), payload(sent)));
  CHECK(all.group(0).slowest() == 2);
  until([&] {
    all[0].engine().progress();
    return all.statistics(0).questions > 0;
  });
  // In its answer, rank 2 says that it has received all messages and released none.
  until([&] {
    all[2].engine().progress();
    return all.statistics(2).answers > 0;
  });
  CHECK(all.statistics(2).naks_sent == 0);
  CHECK(all.statistics(1).answers == 0);
  all[0].engine().progress();
  CHECK_FALSE(all.group(0).try_send(call(sent), payload(sent)));
  for (std::uint64_t i = 0; i < sent; ++i) REQUIRE(receives(all, 2, 0, i));
  until([&] { return all.group(0).try_send(call(sent), payload(sent)); });
}

TEST_CASE("a different call of the same number is a mismatch", "[multicast]") {
  team all(2);
  REQUIRE(all.group(0).try_send(call(1), payload(1)));
  REQUIRE(all.group(0).try_signal(call(1)));
  std::span<const std::byte> message;
  const call_id other{1, ~signature};
  const auto is_mismatch = Catch::Matchers::Predicate<chorale::error>(
      [](const chorale::error& e) { return e.code() == chorale::errc::mismatch; }, "is a mismatch");
  CHECK_THROWS_MATCHES(until([&] { return all.group(1).try_receive(0, other, message); }), chorale::error,
                       is_mismatch);
  CHECK_THROWS_MATCHES(until([&] { return all.group(1).try_signalled(0, other); }), chorale::error,
                       is_mismatch);
}

TEST_CASE("a rank that joins late gets everything retransmitted", "[multicast]") {
  team all(2, team::impatient(), false);
  for (std::uint64_t i = 0; i < 20; ++i) REQUIRE(all.group(0).try_send(call(i), payload(i)));
  std::this_thread::sleep_for(1ms);
  for (std::uint64_t i = 0; i < 20; ++i) {
    until([&] {
      all[0].engine().progress();
      all[1].engine().progress();
      return receives(all, 1, 0, i);
    });
  }
  CHECK(all.statistics(0).repairs >= 20);
}
