// The multicast protocol datagram by datagram: old ones, in order, ahead, repeated and damaged, and the
// answers to them.
#include <cstring>

#include <chorale/transport/mailbox.hpp>

#include "multicast_rank.hpp"

using namespace protocols;

namespace {

using chorale::transport::presence;

constexpr multicast_options of_rank(int rank) {
  return {.rank = rank, .size = 4, .secret = 0x5ec4e7, .payload_bytes = 32, .patience = 1ms};
}

/// A rank that keeps its outgoing datagrams for the test.
class recorder final : multicast_port {
 public:
  explicit recorder(int rank) : protocol(*this, of_rank(rank)) {}

  bool has_room = true;
  std::vector<bytes> multicasts;
  std::vector<std::pair<int, letter>> letters;
  multicast_protocol protocol;

 private:
  std::span<std::byte> place(std::uint32_t index) noexcept override {
    return std::span{memory_}.subspan(index * 128, 128);
  }
  bool is_free(std::uint32_t) override { return true; }
  bool multicast(std::uint32_t index, std::size_t size) override {
    if (!has_room) return false;
    const auto sent = place(index).first(size);
    multicasts.emplace_back(sent.begin(), sent.end());
    return true;
  }
  bool send_to(int to, multicast_kind kind, std::span<const std::byte> body, bool) override {
    letters.push_back({to, {0, raw(kind), std::make_shared<const bytes>(body.begin(), body.end())}});
    return has_room;
  }
  bool has_left(int) const noexcept override { return false; }
  bool is_lost(int) const noexcept override { return false; }
  void ask_for_life(int) override {}

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
    for (const auto& [to, l] : receiver.letters)
      CHECK(sender.protocol.on_datagram(r, l.kind, *l.body, start));
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
    return std::span<const std::byte>{*receiver.letters[i].second.body};
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
  CHECK(parse<message_state>(*receiver.letters[0].second.body)->released == first_multicast + 16);
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
  std::uint64_t naks = 0, repairs = 0, schedules_run = 0;
  run(schedules{200}, [&](virtual_net& net) {
    multicast_job job{net, ranks};
    job.options.secret = net.below(1'000'000);
    job.options.payload_bytes = 24;
    job.options.patience = 1ms;
    job.calls = {{{1, 1}, 0, true, 0}, {{2, 2}, 1, true, 0}};
    for (int r = 0; r < ranks; ++r) job.ranks.push_back(std::make_unique<multicast_rank>(job, r));
    for (auto& r : job.ranks) r->begin(1us);
    job.lost_at_once = 1;
    while (!job[0].is_member() || job[0].protocol().statistics().signals == 0) net.step();
    job.lost_at_once = 0;
    const auto all_have_it = [&] {
      return std::all_of(job.ranks.begin(), job.ranks.end(),
                         [](const auto& r) { return r->calls_made() > 0; });
    };
    while (!all_have_it()) net.step();
    naks += job[0].protocol().statistics().naks_received;
    repairs += job[0].protocol().statistics().repairs;
    ++schedules_run;
  });
  INFO(naks << " NAKs, " << repairs << " repairs in " << schedules_run << " schedules");
  CHECK(naks < 2 * schedules_run);
  CHECK(repairs < 2 * schedules_run);
}
