// SPDX-License-Identifier: Apache-2.0
// When a rank asks to close a connection that its peer keeps, when the peer answers, and when the limit is
// exceeded.
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/core/clock.hpp>
#include <chorale/transport/connections/connection_table.hpp>

namespace {

using namespace chorale::transport;
using namespace std::chrono_literals;
using time_point = connection_table::time_point;

/// Queue pairs without effect; keeps the last message about closing one.
struct idle_port final : connection_port {
  void open(int) override {}
  void accept(int) override {}
  void close(int) noexcept override {}
  void set_ready(int, bool) noexcept override {}
  void send(int, const connect_request&) override {}
  void send(int, const close_message& m) override { asked = m; }
  bool is_drained(int) override { return drained; }
  ledger counts(int peer) override { return peer == 1 ? mine : ledger{}; }
  [[nodiscard]] std::uint64_t used(int) const noexcept override { return uses; }
  [[nodiscard]] bool works(int) const noexcept override { return working; }
  [[nodiscard]] bool has_left(int) const noexcept override { return false; }
  [[nodiscard]] bool admits(int) const noexcept override { return true; }

  bool drained = true;
  bool working = true;
  ledger mine{};  ///< counts of the connection with rank 1
  std::uint64_t uses = 0;
  std::optional<close_message> asked;
};

}  // namespace

namespace {

constexpr auto endless = 1h;

/// The counts of a side that has sent `sent` messages, and received and released `taken`.
ledger ledger_of(std::uint64_t sent, std::uint64_t taken) {
  ledger l{};
  l.sent = sent;
  l.received = l.released = taken;
  return l;
}

/// A table with room for one connection, which exists with rank 1 and has been used.
struct full_table {
  full_table() {
    table.request(1);
    table.advance(1, now);
    table.on_connect(1, {0, 1, 0}, now);
    REQUIRE(table.advance(1, now));
    ++port.uses;
    ++port.mine.sent;
    table.request(2);
  }
  /// Delivers the peer's answer to the last request.
  void answer(close_message::verdict what, const ledger& theirs = {}) {
    REQUIRE(port.asked);
    close_message m = *port.asked;
    m.what = what;
    m.counts = theirs;
    if (what != close_message::verdict::possible) port.asked.reset();
    table.on_close(1, m, now);
  }

  idle_port port;
  connection_table table{port, 4, {.limit = 1, .patience = endless}};
  time_point now{1h};
};

}  // namespace

TEST_CASE("after a refusal a rank repeats its request after doubling pauses, until the next use",
          "[protocols]") {
  full_table t;
  const auto pauses = [&](std::size_t how_many) {
    std::vector<std::int64_t> all;
    for (time_point last = t.now; all.size() < how_many; t.now += 1ms) {
      t.table.advance(2, t.now);
      t.table.progress(t.now);
      if (!t.port.asked) continue;
      all.push_back((t.now - last) / 1ms);
      last = t.now;
      t.answer(close_message::verdict::refused);
    }
    return all;
  };
  CHECK(pauses(9) == std::vector<std::int64_t>{0, 1, 2, 4, 8, 16, 32, 64, 64});
  ++t.port.uses;
  const auto after = pauses(4);
  CHECK(std::vector(after.begin() + 1, after.end()) == std::vector<std::int64_t>{1, 2, 4});
}

TEST_CASE("a rank exceeds its limit at once if no connection can be closed first", "[protocols]") {
  full_table t;
  // It waits while the peer may still agree.
  CHECK(!t.table.advance(2, t.now));
  t.table.progress(t.now);
  CHECK(!t.table.advance(2, t.now));
  CHECK(t.table.open_peers() == std::vector<int>{1});
  t.answer(close_message::verdict::refused);
  t.table.advance(2, t.now);
  CHECK(t.table.open_peers() == std::vector<int>{1, 2});

  SECTION("and for a peer that asks") {
    // The second connection has not sent anything yet, so it cannot be closed either.
    t.table.on_connect(2, {0, 1, 0}, t.now);
    t.table.on_connect(3, {0, 0, 1}, t.now);
    CHECK(t.table.open_peers() == std::vector<int>{1, 2, 3});
  }
  SECTION("and closes the excess connection when the peer would agree") {
    t.table.on_close(1, {close_message::verdict::possible, 0, 1, 0, {}}, t.now);
    t.table.progress(t.now);
    REQUIRE(t.port.asked);
    CHECK(t.port.asked->what == close_message::verdict::request);
  }
}

TEST_CASE("a rank repeats a refused request when both sides have taken all messages", "[protocols]") {
  full_table t;
  t.table.advance(2, t.now);
  t.table.progress(t.now);
  const close_message first = *t.port.asked;
  t.answer(close_message::verdict::refused, ledger_of(1, 0));
  t.table.progress(t.now);
  REQUIRE(!t.port.asked);
  const auto peer_says_possible = [&](std::uint32_t attempt) {
    close_message m = first;
    m.what = close_message::verdict::possible;
    m.attempt = attempt;
    t.table.on_close(1, m, t.now);
    t.table.advance(2, t.now);
    t.table.progress(t.now);
  };
  // The peer has sent a message that this rank has not taken.
  peer_says_possible(first.attempt);
  CHECK(!t.port.asked);
  t.port.mine.received = t.port.mine.released = 1;
  // An answer to an older request has no effect.
  peer_says_possible(first.attempt - 1);
  t.table.progress(t.now);
  REQUIRE(t.port.asked);
  CHECK(t.port.asked->attempt == first.attempt + 1);

  // After a second refusal in a row the rank waits for its pause, whatever the peer says.
  const close_message second = *t.port.asked;
  t.answer(close_message::verdict::refused, ledger_of(1, 0));
  peer_says_possible(second.attempt);
  CHECK(!t.port.asked);
  t.now += 2ms;
  t.table.progress(t.now);
  CHECK(t.port.asked);
}

TEST_CASE("word that a request is possible may arrive before its refusal", "[protocols]") {
  full_table t;
  t.table.advance(2, t.now);
  t.table.progress(t.now);
  const std::uint32_t attempt = t.port.asked->attempt;
  t.table.on_close(1, {close_message::verdict::possible, 0, attempt, 0, {}}, t.now);
  t.answer(close_message::verdict::refused);
  t.table.advance(2, t.now);
  t.table.progress(t.now);
  REQUIRE(t.port.asked);
  CHECK(t.port.asked->attempt == attempt + 1);
}

TEST_CASE("no rank waits for a connection to be closed with a peer that is gone", "[protocols]") {
  full_table t;
  CHECK(!t.table.advance(2, t.now));
  t.port.working = false;
  t.table.advance(2, t.now);
  CHECK(t.table.open_peers() == std::vector<int>{1, 2});
}

TEST_CASE("a table that has ended still hears that a peer has closed", "[protocols]") {
  full_table t;
  CHECK(!t.table.advance(2, t.now));
  t.table.end();
  CHECK(t.table.awaits_answer(1));
  SECTION("by its agreement") {
    t.table.on_close(1, {close_message::verdict::agreed, 0, 1, 0, {}}, t.now);
  }
  SECTION("by its next connection") {
    t.table.on_connect(1, {1, 0, 1}, t.now);
  }
  CHECK(!t.table.awaits_answer(1));
  CHECK(t.table.open_peers().empty());
}

TEST_CASE("a table that has ended neither makes nor closes connections at a peer's request", "[protocols]") {
  full_table t;
  CHECK(!t.table.advance(2, t.now));
  t.table.on_connect(3, {0, 0, 1}, t.now);
  t.table.end();
  t.port.asked.reset();
  t.table.on_close(1, {close_message::verdict::refused, 0, 1, 0, {}}, t.now);
  t.table.progress(t.now);
  t.table.progress(t.now + 2h);
  CHECK(t.table.open_peers() == std::vector<int>{1});
  CHECK(!t.port.asked);
  t.table.close_all();
  CHECK(t.table.open_peers().empty());
}

TEST_CASE("a request to close is answered as soon as possible", "[protocols]") {
  full_table t;
  const auto asks = [&](std::uint32_t attempt, const ledger& theirs) {
    t.table.on_close(1, {close_message::verdict::request, 0, attempt, 0, theirs}, t.now);
  };
  SECTION("when this rank's messages are acknowledged") {
    t.port.drained = false;
    asks(1, ledger_of(0, 1));
    t.table.progress(t.now);
    CHECK(!t.port.asked);
    t.port.drained = true;
    t.table.progress(t.now);
    REQUIRE(t.port.asked);
    CHECK(t.port.asked->what == close_message::verdict::agreed);
    CHECK(t.table.open_peers().empty());
  }
  SECTION("and again when the reason of the refusal is gone") {
    asks(1, ledger_of(1, 1));
    REQUIRE(t.port.asked);
    CHECK(t.port.asked->what == close_message::verdict::refused);
    CHECK(t.port.asked->counts.sent == 1);
    t.port.asked.reset();
    t.table.progress(t.now);
    CHECK(!t.port.asked);
    t.port.mine.received = t.port.mine.released = 1;
    t.table.progress(t.now);
    REQUIRE(t.port.asked);
    CHECK(t.port.asked->what == close_message::verdict::possible);
    CHECK(t.port.asked->attempt == 1);
    // Only once: the rank that asked remembers the answer.
    t.port.asked.reset();
    t.table.progress(t.now);
    CHECK(!t.port.asked);
  }
}
