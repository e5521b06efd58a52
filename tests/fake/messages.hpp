// SPDX-License-Identifier: Apache-2.0
// A transport with messages of any length and a mailbox.
#pragma once

#include "mailbox.hpp"
#include "waiting.hpp"

namespace fake {

/// The handle of a posted message; empty, since the fake writes only into posted memory.
struct posting {
  posting() = default;
  posting(posting&&) = default;
  posting& operator=(posting&&) = default;
  ~posting() {}
};

/// Models `mailbox_transport` and `message_transport`; it has no one-sided operations.
class messages : public mailbox {
 public:
  messages(world& in, int rank) : mailbox(in, rank), in_(in) {}

  [[nodiscard]] auto send(int to, chorale::call_id now, std::span<const std::byte> bytes) {
    return does("a free block", to, now, [&lane = in_.between(rank(), to), now, bytes] {
      lane.advance();
      if (lane.has_posted_sends() || !lane.has_room()) return false;
      lane.send(now, bytes);
      return true;
    });
  }
  [[nodiscard]] auto receive(int from, chorale::call_id now) {
    in_.between(from, rank()).advance();
    return mailbox::receive(from, now);
  }

  [[nodiscard]] posting post_send(int to, chorale::call_id now, std::span<const std::byte> bytes) {
    in_.between(rank(), to).post_send(now, bytes);
    return {};
  }
  [[nodiscard]] posting post_receive(int from, chorale::call_id now, std::span<std::byte> into) {
    in_.between(from, rank()).post_receive(now, into);
    return {};
  }
  [[nodiscard]] auto sent(int to, chorale::call_id now) {
    return does("a posted message to leave", to, now, [&lane = in_.between(rank(), to)] {
      lane.advance();
      return !lane.has_posted_sends();
    });
  }
  [[nodiscard]] auto received(int from, chorale::call_id now) {
    return does("a posted message to come", from, now, [&lane = in_.between(from, rank())] {
      lane.advance();
      return !lane.has_posted_receives();
    });
  }

  static constexpr const char* name = "fake messages";

 private:
  template <class Attempt>
  waiting<Attempt, nothing> does(const char* operation, int peer, chorale::call_id now, Attempt attempt) {
    return {in_, rank(), operation, peer, now, attempt, nothing{}};
  }

  world& in_;
};

}  // namespace fake

static_assert(chorale::tunable_transport<fake::messages> && chorale::message_transport<fake::messages> &&
              !chorale::one_sided_transport<fake::messages>);
