// SPDX-License-Identifier: Apache-2.0
// Multicast datagrams that no rank of the group would send: they change nothing, and are counted.
#include <cstring>

#include <chorale/transport/wire/datagram_queue.hpp>
#include <chorale/verbs/address_handle.hpp>

#include "../../lib/transport/group/membership.hpp"
#include "../../lib/transport/multicast/multicast_messages.hpp"
#include "../../lib/transport/wire/messages.hpp"
#include "multicast_steps.hpp"

using namespace inprocess;
using namespace chorale::transport;

namespace {

/// An intruder that knows the group's address, key and secret, and sends handcrafted datagrams to it.
class speaker {
 public:
  explicit speaker(team& all)
      : way_(all[0].port().domain(),
             chorale::verbs::path_to_group(all[0].port().local(), all.group(0).group())),
        queue_(all[0].port().device(), all[0].port().domain(), {.receives = 1, .sends = 1}),
        qkey_(all.group(0).qkey()) {
    queue_.open({.port = all[0].port().local().number, .pkey_index = 0, .access = 0, .qkey = qkey_});
  }
  /// Sends through the queue pair of a rank from now on, instead of one that the ranks do not know.
  void become(chorale::transport::endpoint& rank) { by_ = &rank.channel().port().queue(); }
  void send(const datagram_header& head, std::span<const std::byte> body, std::uint32_t qkey_error = 0) {
    std::memcpy(queue_.place(0), &head, sizeof head);
    if (!body.empty()) std::memcpy(queue_.place(0) + sizeof head, body.data(), body.size());
    send_bytes(sizeof head + body.size(), qkey_error);
  }
  void send_bytes(std::size_t bytes, std::uint32_t qkey_error = 0) {
    constexpr std::uint32_t all_members = 0xffffff;
    until([&] { return by_->may_send(); });
    by_->send(queue_.content(0, bytes), {way_.native(), all_members, qkey_ ^ qkey_error}, false);
    until([&] {
      by_->reap();
      return by_->completed() == by_->sent();
    });
  }

 private:
  chorale::verbs::address_handle way_;
  datagram_queue queue_;
  datagram_queue* by_ = &queue_;
  std::uint32_t qkey_;
};

}  // namespace

TEST_CASE("multicasts that no rank has sent change nothing, and are counted", "[multicast]") {
  team all(3);
  speaker stranger(all);
  const auto head = [&](std::uint16_t kind, std::size_t bytes) {
    return datagram_header{
        datagram_header::expected_magic,  kind, 0, all[0].members().numbers().multicast_secret, 0,
        static_cast<std::uint32_t>(bytes)};
  };
  for (std::uint64_t i = 0; i < 3; ++i) {
    REQUIRE(all.group(0).try_send(call(i), payload(i)));
    for (const int r : {1, 2}) until([&] { return receives(all, r, 0, i); });
  }
  REQUIRE(all.group(0).try_signal(call(50)));
  for (const int r : {1, 2}) until([&] { return all.group(r).try_signalled(0, call(50)); });
  const std::uint64_t word = signal_word(call(90));
  const message_head next{first_multicast + 3, signature, 3};
  std::uint64_t refused = 0;
  const auto is_refused = [&](const datagram_header& h, std::span<const std::byte> body) {
    stranger.send(h, body);
    ++refused;
    for (const int r : {1, 2}) {
      all[r].engine().progress();
      CHECK(all.statistics(r).refused == refused);
    }
  };
  // Correct, but from an unknown queue pair; then from one rank in the name of another.
  auto wrong = head(raw(multicast_kind::signal), sizeof word);
  is_refused(wrong, wire(word));
  is_refused(head(raw(multicast_kind::message), sizeof next), wire(next));
  stranger.become(all[0]);
  wrong.source = 1;
  is_refused(wrong, wire(word));
  wrong.secret ^= 1;
  is_refused(wrong, wire(word));  // another secret
  wrong = head(raw(multicast_kind::signal), sizeof word);
  wrong.source = 3;
  is_refused(wrong, wire(word));  // no rank
  wrong.source = -1;
  is_refused(wrong, wire(word));
  wrong = head(raw(multicast_kind::signal), sizeof word);
  wrong.magic = 0;
  is_refused(wrong, wire(word));
  is_refused(head(raw(multicast_kind::signal), sizeof word), wire(word).first(5));  // truncated
  is_refused(head(raw(multicast_kind::signal), 5), wire(word).first(5));
  is_refused(head(raw(multicast_kind::signal), 0), {});
  is_refused(head(raw(multicast_kind::message), 8), wire(next).first(8));
  is_refused(head(raw(multicast_kind::message), sizeof next + 8), wire(next));  // shorter than it says
  is_refused(head(raw(multicast_kind::message), sizeof next - 8), wire(next));  // and longer
  is_refused(head(raw(multicast_kind::question), sizeof next), wire(next));     // not one for the group
  is_refused(head(7, sizeof word), wire(word));
  auto far = next;
  far.sequence += multicast_window;
  is_refused(head(raw(multicast_kind::message), sizeof far), wire(far));  // beyond the window
  stranger.send_bytes(3);
  ++refused;
  stranger.send(head(raw(multicast_kind::signal), sizeof word), wire(word),
                1);  // another key: the device drops it

  // Old datagrams arrive again: no effect.
  const std::uint64_t old = signal_word(call(50));
  const message_head first{first_multicast, signature, 0};
  stranger.send(head(raw(multicast_kind::signal), sizeof old), wire(old));
  stranger.send(head(raw(multicast_kind::message), sizeof first), wire(first));
  for (const int r : {1, 2}) {
    all[r].engine().progress();
    CHECK(all.statistics(r).refused == refused);
    CHECK(all.statistics(r).duplicates == 2);
    CHECK(all[r].channel().refused() == refused);
    CHECK_FALSE(all.group(r).try_signalled(0, call(51)));
    CHECK_FALSE(receives(all, r, 0, 3));
  }
  REQUIRE(all.group(0).try_send(call(3), payload(3)));
  for (const int r : {1, 2}) until([&] { return receives(all, r, 0, 3); });
  CHECK(all.statistics(1).naks_sent + all.statistics(2).naks_sent == 0);
}

TEST_CASE("the sender refuses datagrams that no receiver would send", "[multicast]") {
  auto c = team::patient();
  c.multicast_patience = 1us;
  team all(2, c);
  for (std::uint64_t i = 0; i < 3; ++i) REQUIRE(all.group(0).try_send(call(i), payload(i)));
  REQUIRE(all.group(0).try_signal(call(9)));
  std::this_thread::sleep_for(1ms);
  std::uint64_t refused = 0;
  const auto says = [&](multicast_kind kind, const auto& body, bool good) {
    REQUIRE(all[1].channel().send(0, raw(kind), wire(body)));
    all[0].engine().progress();
    if (!good) ++refused;
    CHECK(all.statistics(0).refused == refused);
  };
  constexpr auto first = first_multicast;
  says(multicast_kind::message_missing, missing_messages{first + 4, 0, 0}, false);  // not sent yet
  says(multicast_kind::message_missing, missing_messages{first - 40, 0, 0}, true);  // late, but valid
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
  says(multicast_kind::message_missing, missing_messages{first, 0, 0b010}, true);  // the second has arrived
  CHECK(all.statistics(0).repairs == 3);
  for (std::uint64_t i = 0; i < 3; ++i) until([&] { return receives(all, 1, 0, i); });
}
