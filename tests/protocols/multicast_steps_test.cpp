// SPDX-License-Identifier: Apache-2.0
// The multicast protocol datagram by datagram: old ones, in order, ahead, repeated and damaged, and the
// answers to them.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/transport/wire/mailbox.hpp>

#include "../../lib/transport/multicast/multicast_protocol.hpp"
#include "../../lib/transport/wire/messages.hpp"

namespace {

using namespace chorale::transport;
using namespace std::chrono_literals;
using chorale::clock;
using bytes = std::vector<std::byte>;

/// A datagram to one rank.
struct letter {
  std::uint16_t kind;
  bytes body;
};

/// Delivers a datagram to a rank of the group, from the rank that it names; false if it is refused.
bool hears(multicast_protocol& rank, std::span<const std::byte> datagram) {
  const multicast_options& o = rank.options();
  return rank.on_multicast(read_datagram(datagram, o.secret, o.size));
}

constexpr multicast_options of_rank(int rank, int size = 4) {
  return {.rank = rank, .size = size, .secret = 0x5ec4e7, .payload_bytes = 32, .patience = 1ms};
}

/// A rank that keeps its outgoing datagrams for the test.
class recorder final : multicast_port {
 public:
  explicit recorder(int rank, int size = 4) : protocol(*this, of_rank(rank, size)) {}

  bool has_room = true;
  bool has_sent = true;  ///< no send from a buffer is pending
  int departed = -1;
  int dead = -1;
  std::vector<int> asked;  ///< for a sign of life
  std::vector<bytes> multicasts;
  std::vector<std::pair<int, letter>> letters;
  multicast_protocol protocol;

 private:
  std::span<std::byte> place(std::uint32_t index) noexcept override {
    return std::span{memory_}.subspan(index * 128, 128);
  }
  bool is_free(std::uint32_t) override { return has_sent; }
  bool multicast(std::uint32_t index, std::size_t size) override {
    if (!has_room) return false;
    const auto sent = place(index).first(size);
    multicasts.emplace_back(sent.begin(), sent.end());
    return true;
  }
  bool send_to(int to, multicast_kind kind, std::span<const std::byte> body, bool) override {
    letters.push_back({to, {raw(kind), {body.begin(), body.end()}}});
    return has_room;
  }
  bool has_left(int rank) const noexcept override { return rank == departed; }
  bool is_lost(int rank) const noexcept override { return rank == departed || rank == dead; }
  void ask_for_life(int rank) override { asked.push_back(rank); }

  std::vector<std::byte> memory_ = std::vector<std::byte>(multicast_sender::places * 128);
};

constexpr clock::time_point start = clock::time_point{} + 1s;
constexpr chorale::call_id call(std::uint64_t number) {
  return {number, 0x1234};
}
bytes payload(std::size_t size) {
  return bytes(size, static_cast<std::byte>(size));
}

bool takes(recorder& r, int root, std::uint64_t number, std::size_t size) {
  std::span<const std::byte> message;
  if (r.protocol.receiver().look_for_message(root, call(number), message) != presence::here) return false;
  const auto expected = payload(size);
  REQUIRE(std::equal(message.begin(), message.end(), expected.begin(), expected.end()));
  r.protocol.receiver().take_message(root, {});
  r.protocol.receiver().release(root);
  return true;
}

missing_messages missing(std::uint32_t first, std::uint64_t here = 0) {
  return {first_multicast + first, 0, here};
}
bool says(recorder& to, multicast_kind kind, const auto& body, clock::time_point now) {
  return to.protocol.on_datagram(1, raw(kind), wire(body), now);
}

}  // namespace

TEST_CASE("messages that arrive in any order, some twice, are received once, in order", "[protocols]") {
  recorder sender{0}, receiver{1};
  // Sequence numbers wrap after 16 messages.
  for (std::size_t i = 0; i < 32; ++i) REQUIRE(sender.protocol.sender().try_send(call(1), payload(i), start));
  CHECK_FALSE(sender.protocol.sender().try_send(call(1), {}, start));
  for (const unsigned i : {31U, 2U, 1U, 1U, 30U, 31U}) CHECK(hears(receiver.protocol, sender.multicasts[i]));
  CHECK_FALSE(takes(receiver, 0, 1, 0));
  CHECK(receiver.protocol.statistics().duplicates == 2);
  CHECK(hears(receiver.protocol, sender.multicasts[0]));
  for (std::size_t i = 0; i < 3; ++i) CHECK(takes(receiver, 0, 1, i));
  CHECK_FALSE(takes(receiver, 0, 1, 3));
  for (std::size_t i = 0; i < 32; ++i) CHECK(hears(receiver.protocol, sender.multicasts[i]));
  for (std::size_t i = 3; i < 32; ++i) CHECK(takes(receiver, 0, 1, i));
  CHECK(receiver.protocol.statistics().duplicates == 2 + 3 + 2);
  CHECK(receiver.protocol.statistics().refused == 0);
  // With two acknowledgements the window is open again.
  CHECK(receiver.letters.size() == 2);
  for (const int r : {1, 2, 3}) {
    for (const auto& [to, l] : receiver.letters) CHECK(sender.protocol.on_datagram(r, l.kind, l.body, start));
  }
  const std::size_t freed = 32 - 16 * 1 / 4;  // rank 1 of 4 acknowledges 4 messages before each half's end
  std::size_t more = 0;
  while (sender.protocol.sender().try_send(call(1), {}, start)) ++more;
  CHECK(more == freed);
}

TEST_CASE("a message that has not been sent yet is not repeated", "[protocols]") {
  recorder sender{0};
  auto now = start;
  for (std::size_t i = 0; i < 32; ++i) REQUIRE(sender.protocol.sender().try_send(call(1), payload(9), now));
  const message_state all{first_multicast + 32, first_multicast + 32, 0};
  for (const int r : {1, 2, 3})
    REQUIRE(sender.protocol.on_datagram(r, raw(multicast_kind::acknowledgement), wire(all), now));
  sender.has_room = false;
  CHECK_FALSE(sender.protocol.sender().try_send(call(2), payload(3), now));
  sender.has_room = true;
  sender.multicasts.clear();
  // An old NAK for the message that used the memory of the next one.
  CHECK(says(sender, multicast_kind::message_missing, missing(0, ~std::uint64_t{1}), now + 10ms));
  CHECK(sender.multicasts.empty());
  CHECK(sender.protocol.sender().try_send(call(2), payload(3), now + 10ms));
  CHECK(says(sender, multicast_kind::message_missing, missing(32), now + 20ms));
  REQUIRE(sender.multicasts.size() == 2);
  CHECK(sender.multicasts[0] == sender.multicasts[1]);
}

TEST_CASE("a NAK makes the sender repeat missing messages, but not those sent a moment ago", "[protocols]") {
  recorder sender{0};
  for (std::size_t i = 0; i < 5; ++i) REQUIRE(sender.protocol.sender().try_send(call(1), payload(i), start));
  const auto first = sender.multicasts;
  const auto repeated = [&](const missing_messages& m, clock::time_point now) {
    sender.multicasts.clear();
    REQUIRE(says(sender, multicast_kind::message_missing, m, now));
    return sender.multicasts;
  };
  CHECK(repeated(missing(1), start + 400us).empty());
  CHECK(repeated(missing(1, 0b0110), start + 1ms) == std::vector<bytes>{first[1], first[4]});
  CHECK(repeated(missing(0), start + 1400us) == std::vector<bytes>{first[0], first[2], first[3]});
  CHECK(repeated(missing(5), start + 9ms).empty());
  CHECK(sender.protocol.statistics().repairs == 5);
  CHECK_FALSE(says(sender, multicast_kind::message_missing, missing(6), start + 9ms));
  CHECK(says(sender, multicast_kind::signal_missing, signal_word(call(1)), start + 9ms));
  CHECK(sender.multicasts.empty());
}

TEST_CASE("a question is answered with the received and the missing messages", "[protocols]") {
  recorder receiver{1};
  const sender_state theirs{first_multicast + 3, 0, signal_word(call(7))};
  REQUIRE(receiver.protocol.on_datagram(2, raw(multicast_kind::question), wire(theirs), start));
  REQUIRE(receiver.letters.size() == 3);
  const auto body = [&](std::size_t i) {
    return std::span<const std::byte>{receiver.letters[i].second.body};
  };
  const auto state = parse<message_state>(body(0));
  const auto messages = parse<missing_messages>(body(1));
  const auto signal = parse<std::uint64_t>(body(2));
  REQUIRE((state && messages && signal));
  CHECK(state->arrived == first_multicast);
  CHECK(messages->first == first_multicast);
  CHECK(*signal == signal_word(call(7)));
  for (const auto& [to, l] : receiver.letters) CHECK(to == 2);
}

TEST_CASE("an acknowledgement that cannot be sent is sent later", "[protocols]") {
  recorder sender{0}, receiver{1};
  for (std::size_t i = 0; i < 16; ++i) REQUIRE(sender.protocol.sender().try_send(call(1), payload(i), start));
  for (const auto& m : sender.multicasts) REQUIRE(hears(receiver.protocol, m));
  receiver.has_room = false;
  for (std::size_t i = 0; i < 16; ++i) REQUIRE(takes(receiver, 0, 1, i));
  CHECK(receiver.protocol.is_pending());
  receiver.protocol.progress(start);
  CHECK(receiver.protocol.is_pending());
  receiver.has_room = true;
  receiver.letters.clear();
  receiver.protocol.progress(start);
  CHECK_FALSE(receiver.protocol.is_pending());
  REQUIRE(receiver.letters.size() == 1);
  CHECK(parse<message_state>(receiver.letters[0].second.body)->released == first_multicast + 16);
}

TEST_CASE("a rank that waits asks after its patience, and then less and less often", "[protocols]") {
  nak_timer timer{2, 1ms, 7};
  timer.expect({1, false, 5});
  std::vector<clock::duration> asked;
  for (auto t = start; t < start + 1s; t += 100us) {
    if (timer.asks(t, false, true)) asked.push_back(t - start);
  }
  REQUIRE(asked.size() > 10);
  // Usual waits are not known yet. Two ranks need not spread their questions.
  CHECK(asked[0] == 8ms);
  CHECK(asked[1] - asked[0] == 16ms);
  for (std::size_t i = 2; i < asked.size(); ++i) CHECK(asked[i] - asked[i - 1] == 20ms);
  timer.end(start + 1s);
  CHECK_FALSE(timer.is_waiting());

  // Short waits reduce its patience, down to the minimum.
  for (int i = 0; i < 20; ++i) {
    timer.expect({1, false, static_cast<std::uint64_t>(10 + i)});
    CHECK_FALSE(timer.asks(start, false, true));
    timer.end(start + 10us);
  }
  timer.expect({1, true, 1});
  CHECK_FALSE(timer.asks(start, false, true));
  CHECK_FALSE(timer.asks(start + 900us, false, true));
  CHECK(timer.asks(start + 1ms, false, true));
}

TEST_CASE("of many ranks that miss a multicast few ask for it", "[protocols]") {
  constexpr int ranks = 16;
  std::uint64_t naks = 0, repairs = 0;
  for (std::uint64_t number = 1; number <= 50; ++number) {
    std::vector<std::unique_ptr<recorder>> all;
    for (int r = 0; r < ranks; ++r) all.push_back(std::make_unique<recorder>(r, ranks));
    recorder& root = *all[0];
    const auto has_it = [&](recorder& r) {
      return r.protocol.receiver().look_for_signal(0, call(number)) == presence::here;
    };
    // The signal is lost; each NAK for it is answered within 20 us.
    REQUIRE(root.protocol.sender().try_signal(call(number), start));
    root.multicasts.clear();
    for (auto& r : all) r->protocol.receiver().wait_for_signal(0, call(number));
    auto now = start;
    for (bool missing = true; missing; now += 20us) {
      REQUIRE(now < start + 1s);
      missing = false;
      for (std::size_t r = 1; r < ranks; ++r) {
        all[r]->protocol.progress(now + std::chrono::nanoseconds{number * r * 997 % 20'000});
        for (const auto& [to, l] : std::exchange(all[r]->letters, {}))
          REQUIRE(root.protocol.on_datagram(static_cast<int>(r), l.kind, l.body, now));
      }
      for (const bytes& m : std::exchange(root.multicasts, {}))
        for (auto& r : all) REQUIRE(hears(r->protocol, m));
      for (std::size_t r = 1; r < ranks; ++r) missing = missing || !has_it(*all[r]);
    }
    naks += root.protocol.statistics().naks_received;
    repairs += root.protocol.statistics().repairs;
  }
  CHECK(naks < 2 * 50);
  CHECK(repairs < 2 * 50);
}

TEST_CASE("what no rank of the group would send is refused, and has no effect", "[protocols]") {
  recorder sender{0}, receiver{1};
  REQUIRE(sender.protocol.sender().try_send(call(1), payload(9), start));
  const bytes& good = sender.multicasts.front();
  const auto damaged = [&](std::size_t at, std::byte by) {
    bytes b = good;
    b[at] ^= by;
    return hears(receiver.protocol, b);
  };
  CHECK_FALSE(hears(receiver.protocol, std::span{good}.first(good.size() - 1)));
  bytes longer = good;
  longer.push_back(std::byte{7});
  CHECK_FALSE(hears(receiver.protocol, longer));
  CHECK_FALSE(damaged(2, std::byte{1}));                               // magic number
  CHECK_FALSE(damaged(4, std::byte{3}));                               // a kind of no group datagram
  CHECK_FALSE(damaged(9, std::byte{0x10}));                            // secret
  CHECK_FALSE(damaged(18, std::byte{0x80}));                           // a rank that does not exist
  CHECK_FALSE(damaged(sizeof(datagram_header) + 3, std::byte{0xf0}));  // a message beyond the window
  CHECK_FALSE(takes(receiver, 0, 1, 9));

  const auto far = first_multicast + 100;
  CHECK_FALSE(says(sender, multicast_kind::message_missing, missing_messages{far, 0, 0}, start + 9ms));
  CHECK_FALSE(says(sender, multicast_kind::acknowledgement, message_state{far, far, 0}, start + 9ms));
  CHECK_FALSE(says(sender, multicast_kind::acknowledgement,
                   message_state{first_multicast + 1, first_multicast, 0}, start + 9ms));
  CHECK_FALSE(says(sender, multicast_kind::acknowledgement,
                   message_state{first_multicast, first_multicast, signal_word(call(3))}, start + 9ms));
  CHECK_FALSE(says(sender, multicast_kind::question, sender_state{far, 0, 0}, start + 9ms));
  CHECK_FALSE(says(sender, multicast_kind::signal, signal_word(call(1)), start + 9ms));
  CHECK(sender.protocol.statistics().refused == 6);
  CHECK(sender.letters.empty());
  CHECK(sender.multicasts.size() == 1);

  // Its own datagram comes back to the sender, and the same one comes twice to another rank.
  CHECK(hears(sender.protocol, good));
  CHECK_FALSE(takes(sender, 0, 1, 9));
  CHECK(hears(receiver.protocol, good));
  CHECK(takes(receiver, 0, 1, 9));
  CHECK(hears(receiver.protocol, good));
  CHECK_FALSE(takes(receiver, 0, 1, 9));
}

TEST_CASE("an older signal changes nothing, and one of another call is told from the awaited one",
          "[protocols]") {
  recorder sender{0}, receiver{1};
  const auto look = [&](chorale::call_id c) { return receiver.protocol.receiver().look_for_signal(0, c); };
  for (const std::uint64_t number : {5U, 6U})
    REQUIRE(sender.protocol.sender().try_signal(call(number), start));
  CHECK(look(call(5)) == presence::absent);
  CHECK(hears(receiver.protocol, sender.multicasts[1]));
  CHECK(hears(receiver.protocol, sender.multicasts[0]));
  CHECK(look(call(6)) == presence::here);
  CHECK(look({6, 0x8765'4321}) == presence::of_another_call);
  CHECK(look(call(7)) == presence::absent);
  std::span<const std::byte> message;
  REQUIRE(sender.protocol.sender().try_send(call(7), payload(3), start));
  CHECK(hears(receiver.protocol, sender.multicasts[2]));
  CHECK(receiver.protocol.receiver().look_for_message(0, call(8), message) == presence::of_another_call);
}

TEST_CASE("a sender waits for buffers and for ranks that are there, and asks them", "[protocols]") {
  recorder sender{0};
  auto& s = sender.protocol.sender();
  sender.has_sent = false;
  CHECK_FALSE(s.try_send(call(1), payload(9), start));
  CHECK_FALSE(s.try_signal(call(1), start));
  sender.has_sent = true;
  for (std::size_t i = 0; i < multicast_window; ++i) REQUIRE(s.try_send(call(1), payload(9), start));
  CHECK_FALSE(s.try_send(call(1), payload(9), start));
  const message_state all{first_multicast + 32, first_multicast + 32, 0};
  for (const int r : {1, 3})
    REQUIRE(sender.protocol.on_datagram(r, raw(multicast_kind::acknowledgement), wire(all), start));
  CHECK(s.slowest() == 2);
  CHECK(sender.protocol.is_pending());
  sender.protocol.progress(start);
  sender.protocol.progress(start + 1ms);
  REQUIRE(sender.letters.size() == 1);
  CHECK(sender.letters[0].first == 2);
  CHECK(sender.letters[0].second.kind == raw(multicast_kind::question));
  sender.departed = 2;
  CHECK(s.try_send(call(1), payload(9), start + 2ms));
}

TEST_CASE("a rank leaves once all that are alive have its messages and its signal", "[protocols]") {
  recorder sender{0};
  auto& s = sender.protocol.sender();
  CHECK(s.settle(start));
  const std::uint64_t word = signal_word(call(2));
  REQUIRE(s.try_send(call(1), payload(9), start));
  REQUIRE(s.try_signal(call(2), start));
  const auto says_it_has = [&](int r, std::uint32_t messages, std::uint64_t signal) {
    const message_state has{first_multicast, first_multicast + messages, signal};
    REQUIRE(sender.protocol.on_datagram(r, raw(multicast_kind::acknowledgement), wire(has), start));
  };
  says_it_has(1, 1, word);
  says_it_has(2, 0, word);
  says_it_has(3, 1, 0);
  CHECK_FALSE(s.settle(start));
  // Ranks that lack something are asked for their state, and for a sign of life, since they may not have
  // joined.
  CHECK(sender.asked == std::vector<int>{2, 3});
  REQUIRE(sender.letters.size() == 2);
  says_it_has(2, 1, word);
  CHECK_FALSE(s.settle(start + 1ms));
  sender.dead = 3;
  CHECK(s.settle(start + 2ms));
}
