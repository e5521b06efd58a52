// The protocol of multicast step by step: what is sent, asked, repeated, refused.
#include <cstring>
#include <numeric>
#include <thread>

#include <catch2/catch.hpp>

#include <chorale/verbs/address_handle.hpp>
#include <chorale/verbs/completion_queue.hpp>
#include <chorale/verbs/queue_pair.hpp>
#include <chorale/verbs/registered_buffer.hpp>

#include "../../lib/transport/messages.hpp"
#include "../../lib/transport/multicast_messages.hpp"
#include "bare.hpp"

using namespace inprocess;
using namespace chorale::transport;
using chorale::epoch;
using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t signature = 0x1234;
epoch call(std::uint64_t number) {
  return {number, signature};
}

/// Datagrams that a rank which does not look can take: the next ones are lost, to it alone.
constexpr std::uint64_t room = 4 * multicast_group::window;

std::vector<std::byte> payload(std::uint64_t i) {
  std::vector<std::byte> bytes(i % 100);
  for (std::size_t at = 0; at < bytes.size(); ++at) bytes[at] = static_cast<std::byte>(i + 7 * at);
  return bytes;
}

/// Calls `step` until it returns true; fails after 20 s.
template <class Step>
void until(Step&& step) {
  const auto give_up = chorale::steady::now() + 20s;
  while (!step()) {
    REQUIRE(chorale::steady::now() < give_up);
    std::this_thread::yield();
  }
}

bool receives(team& all, int rank, int root, std::uint64_t i) {
  std::span<const std::byte> message;
  if (!all.group(rank).try_receive(root, call(i), message)) return false;
  const auto expected = payload(i);
  REQUIRE(std::equal(message.begin(), message.end(), expected.begin(), expected.end()));
  all.group(rank).release(root);
  return true;
}

/// A queue pair of somebody who knows the group's address and key.
class outsider {
 public:
  explicit outsider(team& all)
      : buffer_(all[0].domain(), 4096, IBV_ACCESS_LOCAL_WRITE),
        queue_(all[0].device(), 16),
        way_(all[0].domain(), chorale::verbs::path_to_group(all[0].local_port(), all.group(0).group())),
        pair_(all[0].domain(), options()),
        qkey_(all.group(0).qkey()) {
    pair_.to_init({.port = all[0].local_port().number, .pkey_index = 0, .access = 0, .qkey = qkey_});
    pair_.to_ready_to_receive();
    pair_.to_ready_to_send(0);
  }
  void send(const datagram_header& head, std::span<const std::byte> body, std::uint32_t qkey_error = 0) {
    std::memcpy(buffer_.data(), &head, sizeof head);
    if (!body.empty()) std::memcpy(buffer_.data() + sizeof head, body.data(), body.size());
    send_bytes(sizeof head + body.size(), qkey_error);
  }
  void send_bytes(std::size_t bytes, std::uint32_t qkey_error = 0) {
    ibv_sge source{reinterpret_cast<std::uintptr_t>(buffer_.data()), static_cast<std::uint32_t>(bytes),
                   buffer_.lkey()};
    ibv_send_wr request{};
    request.sg_list = &source;
    request.num_sge = 1;
    request.opcode = IBV_WR_SEND;
    request.send_flags = IBV_SEND_SIGNALED;
    request.wr.ud.ah = way_.native();
    request.wr.ud.remote_qpn = 0xffffff;
    request.wr.ud.remote_qkey = qkey_ ^ qkey_error;
    pair_.post_send(request);
    ibv_wc done[1];
    until([&] { return !queue_.poll(done).empty(); });
  }

 private:
  chorale::verbs::queue_pair_options options() {
    chorale::verbs::queue_pair_options o;
    o.type = IBV_QPT_UD;
    o.send = o.recv = &queue_;
    return o;
  }
  chorale::verbs::registered_buffer buffer_;
  chorale::verbs::completion_queue queue_;
  chorale::verbs::address_handle way_;
  chorale::verbs::queue_pair pair_;
  std::uint32_t qkey_;
};

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span{&value, 1});
}
constexpr auto raw(multicast_kind kind) {
  return static_cast<std::uint16_t>(kind);
}

}  // namespace

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

TEST_CASE("a later signal serves who waits for an earlier one", "[multicast]") {
  team all(2);
  CHECK_FALSE(all.group(1).try_signalled(0, call(4)));
  until([&] { return all.group(0).try_signal(call(3)); });
  CHECK_FALSE(all.group(1).try_signalled(0, call(4)));
  until([&] { return all.group(0).try_signal(call(7)); });
  until([&] { return all.group(1).try_signalled(0, call(4)); });
  CHECK(all.group(1).try_signalled(0, call(7)));
  CHECK_FALSE(all.group(1).try_signalled(0, call(8)));
}

TEST_CASE("messages come in order, also across the wrap, and are acknowledged by half windows",
          "[multicast]") {
  constexpr std::uint32_t messages = 200;
  static_assert(multicast_group::first_sequence + messages < multicast_group::first_sequence, "it wraps");
  team all(4);
  for (std::uint64_t i = 0; i < messages; ++i) {
    const auto bytes = payload(i);
    until([&] {
      all[1].progress();
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
  // Nobody has looked: the last ones are lost. All ask, and only then the sender looks.
  std::this_thread::sleep_for(5ms);
  for (int r = 1; r < size; ++r) {
    until([&] {
      CHECK_FALSE(all.group(r).try_signalled(0, call(room + 5)));
      all[r].progress();
      return all.statistics(r).naks_sent > 0;
    });
  }
  all[0].progress();
  for (int r = 1; r < size; ++r) {
    until([&] { return all.group(r).try_signalled(0, call(room + 5)); });
    CHECK(all.statistics(r).naks_sent >= 1);
  }
  CHECK(all.statistics(0).naks_received >= size - 1);
  // More than one only if this thread was kept from running for half a millisecond in between.
  CHECK(all.statistics(0).repairs < all.statistics(0).naks_received / 2);
}

TEST_CASE("a rank that hears the repair asks for nothing", "[multicast]") {
  constexpr int size = 13;
  team all(size, team::impatient());
  for (std::uint64_t n = 1; n <= room + 1; ++n) until([&] { return all.group(0).try_signal(call(n)); });
  std::this_thread::sleep_for(5ms);
  // All wait; the first to lose patience asks, and is answered before the others look again.
  for (int r = 1; r < size; ++r) CHECK_FALSE(all.group(r).try_signalled(0, call(room + 1)));
  until([&] {
    all[1].progress();
    all[0].progress();
    return all.group(1).try_signalled(0, call(room + 1));
  });
  std::this_thread::sleep_for(20ms);
  for (int r = 2; r < size; ++r) {
    all[r].progress();
    CHECK(all.group(r).try_signalled(0, call(room + 1)));
    CHECK(all.statistics(r).naks_sent == 0);
  }
  CHECK(all.statistics(0).repairs >= 1);
}

TEST_CASE("messages that are lost are repeated, and only those", "[multicast]") {
  team all(3, team::impatient());
  // Rank 2 does not look, so that of 24 messages behind signals the last ones are lost to it, and to it
  // alone.
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
      if (!got) all[2].progress();
      all[0].progress();
      return got;
    });
  }
  CHECK(all.statistics(1).naks_sent == 0);
  CHECK(all.statistics(2).naks_sent >= 1);
  CHECK(all.statistics(0).repairs >= lost);
  all[1].progress();
  // What rank 1 had already it hears again, and throws away.
  CHECK(all.statistics(1).duplicates == all.statistics(0).repairs);
  CHECK(all.statistics(1).refused == 0);
}

TEST_CASE("a sender waits for the slowest rank, and asks it", "[multicast]") {
  team all(3, team::impatient());
  std::uint64_t sent = 0;
  while (all.group(0).try_send(call(sent), payload(sent))) ++sent;
  CHECK(sent == multicast_group::window);
  for (std::uint64_t i = 0; i < sent; ++i) until([&] { return receives(all, 1, 0, i); });
  all[0].progress();
  CHECK_FALSE(all.group(0).try_send(call(sent), payload(sent)));
  CHECK(all.group(0).slowest() == 2);
  until([&] {
    all[0].progress();
    return all.statistics(0).questions > 0;
  });
  // Asked, rank 2 says that it has all and has given back nothing.
  until([&] {
    all[2].progress();
    return all.statistics(2).answers > 0;
  });
  CHECK(all.statistics(2).naks_sent == 0);
  CHECK(all.statistics(1).answers == 0);
  all[0].progress();
  CHECK_FALSE(all.group(0).try_send(call(sent), payload(sent)));
  for (std::uint64_t i = 0; i < sent; ++i) REQUIRE(receives(all, 2, 0, i));
  until([&] { return all.group(0).try_send(call(sent), payload(sent)); });
}

TEST_CASE("another call of that number is a mismatch", "[multicast]") {
  team all(2);
  REQUIRE(all.group(0).try_send(call(1), payload(1)));
  REQUIRE(all.group(0).try_signal(call(1)));
  std::span<const std::byte> message;
  const epoch other{1, signature + 1};
  const auto is_mismatch = Catch::Matchers::Predicate<chorale::error>(
      [](const chorale::error& e) { return e.code() == chorale::errc::mismatch; }, "is a mismatch");
  CHECK_THROWS_MATCHES(until([&] { return all.group(1).try_receive(0, other, message); }), chorale::error,
                       is_mismatch);
  CHECK_THROWS_MATCHES(until([&] { return all.group(1).try_signalled(0, other); }), chorale::error,
                       is_mismatch);
}

TEST_CASE("datagrams of strangers change nothing, and are counted", "[multicast]") {
  team all(3);
  outsider stranger(all);
  const auto head = [&](std::uint16_t kind, std::size_t bytes) {
    return datagram_header{datagram_header::expected_magic,  kind, 0, all[0].job(), 0,
                           static_cast<std::uint32_t>(bytes)};
  };
  for (std::uint64_t i = 0; i < 3; ++i) {
    REQUIRE(all.group(0).try_send(call(i), payload(i)));
    for (const int r : {1, 2}) until([&] { return receives(all, r, 0, i); });
  }
  REQUIRE(all.group(0).try_signal(call(50)));
  for (const int r : {1, 2}) until([&] { return all.group(r).try_signalled(0, call(50)); });
  const std::uint64_t word = signal_word(call(90));
  const message_head next{multicast_group::first_sequence + 3, signature, 3};
  std::uint64_t refused = 0;
  const auto is_refused = [&](const datagram_header& h, std::span<const std::byte> body) {
    stranger.send(h, body);
    ++refused;
    for (const int r : {1, 2}) {
      all[r].progress();
      CHECK(all.statistics(r).refused == refused);
    }
  };
  auto wrong = head(raw(multicast_kind::signal), sizeof word);
  wrong.job ^= 1;
  is_refused(wrong, bytes_of(word));  // another secret
  wrong = head(raw(multicast_kind::signal), sizeof word);
  wrong.source = 3;
  is_refused(wrong, bytes_of(word));  // no rank
  wrong.source = -1;
  is_refused(wrong, bytes_of(word));
  wrong = head(raw(multicast_kind::signal), sizeof word);
  wrong.magic = 0;
  is_refused(wrong, bytes_of(word));
  is_refused(head(raw(multicast_kind::signal), sizeof word), bytes_of(word).first(5));  // truncated
  is_refused(head(raw(multicast_kind::signal), 5), bytes_of(word).first(5));
  is_refused(head(raw(multicast_kind::signal), 0), {});
  is_refused(head(raw(multicast_kind::message), 8), bytes_of(next).first(8));
  is_refused(head(raw(multicast_kind::question), sizeof next), bytes_of(next));  // not one for the group
  is_refused(head(7, sizeof word), bytes_of(word));
  auto far = next;
  far.sequence += multicast_group::window;
  is_refused(head(raw(multicast_kind::message), sizeof far), bytes_of(far));  // beyond the window
  stranger.send_bytes(3);
  ++refused;
  stranger.send(head(raw(multicast_kind::signal), sizeof word), bytes_of(word),
                1);  // another key: the device drops it

  // What was sent before comes again: nothing happens.
  const std::uint64_t old = signal_word(call(50));
  const message_head first{multicast_group::first_sequence, signature, 0};
  stranger.send(head(raw(multicast_kind::signal), sizeof old), bytes_of(old));
  stranger.send(head(raw(multicast_kind::message), sizeof first), bytes_of(first));
  for (const int r : {1, 2}) {
    all[r].progress();
    CHECK(all.statistics(r).refused == refused);
    CHECK(all.statistics(r).duplicates == 2);
    CHECK(all[r].refused_datagrams() == refused);
    CHECK_FALSE(all.group(r).try_signalled(0, call(51)));
    CHECK_FALSE(receives(all, r, 0, 3));
  }
  REQUIRE(all.group(0).try_send(call(3), payload(3)));
  for (const int r : {1, 2}) until([&] { return receives(all, r, 0, 3); });
  CHECK(all.statistics(1).naks_sent + all.statistics(2).naks_sent == 0);
}

TEST_CASE("what no receiver would say is refused by the sender", "[multicast]") {
  auto c = team::patient();
  c.multicast_patience = 1us;
  team all(2, c);
  for (std::uint64_t i = 0; i < 3; ++i) REQUIRE(all.group(0).try_send(call(i), payload(i)));
  REQUIRE(all.group(0).try_signal(call(9)));
  std::this_thread::sleep_for(1ms);
  std::uint64_t refused = 0;
  const auto says = [&](multicast_kind kind, const auto& body, bool good) {
    REQUIRE(all[1].send_datagram(0, raw(kind), bytes_of(body)));
    all[0].progress();
    if (!good) ++refused;
    CHECK(all.statistics(0).refused == refused);
  };
  constexpr auto first = multicast_group::first_sequence;
  says(multicast_kind::message_missing, missing_messages{first + 4, 0, 0}, false);   // not sent yet
  says(multicast_kind::message_missing, missing_messages{first - 40, 0, 0}, false);  // long over
  says(multicast_kind::message_missing, missing_messages{first, 1, 0}, false);
  says(multicast_kind::message_missing, std::uint32_t{7}, false);  // truncated
  says(multicast_kind::signal_missing, std::uint32_t{7}, false);
  says(multicast_kind::acknowledgement, message_state{first + 4, first + 4, 0}, false);
  says(multicast_kind::acknowledgement, message_state{first + 2, first + 1, 0}, false);
  says(multicast_kind::acknowledgement, message_state{first, first, signal_word(call(10))}, false);
  says(multicast_kind::acknowledgement, std::uint64_t{0}, false);
  says(multicast_kind::question, sender_state{first, 5, 0}, false);
  says(multicast_kind::question, sender_state{first + 1000, 0, 0}, false);
  says(multicast_kind::signal, signal_word(call(10)), false);  // not one for a single rank
  CHECK(all.statistics(0).repairs == 0);
  says(multicast_kind::signal_missing, signal_word(call(10)), true);  // early: that call is not over
  CHECK(all.statistics(0).repairs == 0);
  says(multicast_kind::signal_missing, signal_word(call(9)), true);
  CHECK(all.statistics(0).repairs == 1);
  says(multicast_kind::message_missing, missing_messages{first, 0, 0b010}, true);  // the second is there
  CHECK(all.statistics(0).repairs == 3);
  for (std::uint64_t i = 0; i < 3; ++i) until([&] { return receives(all, 1, 0, i); });
}

TEST_CASE("a rank that joins late has everything repeated", "[multicast]") {
  std::vector<std::unique_ptr<bare>> all(2);
  auto c = team::impatient();
  chorale::bootstrap::run_in_process(2, [&](auto& group) {
    all[static_cast<std::size_t>(group.rank())] = std::make_unique<bare>(group, c);
  });
  for (std::uint64_t i = 0; i < 20; ++i) REQUIRE(all[0]->multicasts().try_send(call(i), payload(i)));
  std::this_thread::sleep_for(1ms);
  for (std::uint64_t i = 0; i < 20; ++i) {
    std::span<const std::byte> message;
    until([&] {
      all[0]->progress();
      all[1]->progress();
      return all[1]->multicasts().try_receive(0, call(i), message);
    });
    const auto expected = payload(i);
    CHECK(std::equal(message.begin(), message.end(), expected.begin(), expected.end()));
    all[1]->multicasts().release(0);
  }
  CHECK(all[0]->multicast_statistics().repairs >= 20);
}
