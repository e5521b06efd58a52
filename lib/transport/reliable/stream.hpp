// What a rank knows of the streams to and from one peer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <type_traits>
#include <variant>

#include <chorale/transport/mailbox.hpp>
#include <chorale/transport/reliable/streams.hpp>

#include "pacing.hpp"
#include "receive_window.hpp"
#include "send_window.hpp"

namespace chorale::transport::reliable {

/// A read or an atomic operation of this rank that has not been answered whole.
struct streams::operation {
  int peer = -1;
  std::byte* into = nullptr;
  std::size_t bytes = 0;
  std::size_t received = 0;
  std::uint64_t* old = nullptr;  ///< of an atomic operation
  bool done = false;
  std::string refused;
};

/// An answer to a peer that waits for room in the stream to it.
struct streams::due_reply {
  std::variant<read_body, atomic_reply_body, refusal_body> what;
  std::uint64_t sent = 0;  ///< bytes of a read
};

struct streams::stream {
  struct message {
    std::byte* block;
    std::uint32_t bytes;
    std::uint32_t call;
    std::uint32_t signature;
  };
  struct notice {
    std::uint32_t call;
    std::uint32_t signature;
  };

  stream(int who, packet_pool& pool, std::uint32_t most, steady::duration least_timeout)
      : peer(who), out(pool), in(pool), allowance(most), clock(least_timeout) {}

  int peer;

  // To the peer.
  send_window out;
  receive_window in;
  send_allowance allowance;
  round_trip clock;
  std::uint64_t sent = 0;        ///< messages
  std::uint64_t given_back = 0;  ///< ... that the peer has given back
  std::uint64_t signal_sent = 0;
  sequence signal_after = first_sequence;
  bool signal_confirmed = true;
  steady::time_point signal_when{};
  sequence asked_at = first_sequence;  ///< the last packet that asked for a report ...
  steady::time_point asked_when{};     ///< ... and when, to time the answer; none: it does not count
  sequence last_put = first_sequence;  ///< behind the last packet of a put ...
  bool puts = false;                   ///< ... which has not arrived
  unsigned questions = 0;              ///< in a row without an answer
  steady::time_point next_question{};
  steady::time_point pressed_at{};
  bool lags = false;         ///< something waits for room
  bool has_refused = false;  ///< a put of the peer

  // From the peer.
  std::deque<message> messages;  ///< arrived, in order; the first `handed_out` are with the user
  std::size_t handed_out = 0;
  std::uint64_t released = 0;
  std::uint64_t told = 0;         ///< of `released`
  std::uint64_t signal_seen = 0;  ///< the newest whose packets have come
  std::uint64_t signal_newest = 0;
  sequence newest_after = first_sequence;
  std::deque<notice> notices;
  std::deque<due_reply> replies;
  bool hole_reported = false;
  steady::time_point hole_since{};
  unsigned requests = 0;  ///< to send again, in a row without progress
  steady::time_point waits_since{};
  steady::time_point looked_at{};
  steady::time_point next_request{};
  bool departed = false;
  std::string broken;  ///< why operations on the peer fail, empty while they work

  /// The newest signal that counts: all that was sent before it has come.
  [[nodiscard]] std::uint64_t signal() noexcept {
    if (distance(newest_after, in.expected()) >= 0 && reached(signal_newest, signal_seen))
      signal_seen = signal_newest;
    return signal_seen;
  }
};

/// Bytes of a body on the wire; an empty struct has none.
template <class Body>
[[nodiscard]] std::span<const std::byte> wire(const Body& body) noexcept {
  if constexpr (std::is_empty_v<Body>)
    return {};
  else
    return std::as_bytes(std::span{&body, 1});
}

template <class Body>
void streams::push(stream& s, packet_type type, std::uint8_t flags, epoch now, const Body& body,
                   std::span<const std::byte> payload) {
  std::byte* block = pool_.take();
  packet_header head{};
  head.number = s.out.next();
  head.type = static_cast<std::uint8_t>(type);
  head.flags = flags;
  head.call = static_cast<std::uint32_t>(now.number);
  head.signature = now.signature;
  std::memcpy(block, &head, sizeof head);
  const auto fixed = wire(body);
  if (!fixed.empty()) std::memcpy(block + sizeof head, fixed.data(), fixed.size());
  if (!payload.empty()) std::memcpy(block + sizeof head + fixed.size(), payload.data(), payload.size());
  s.out.push(block, static_cast<std::uint32_t>(sizeof head + fixed.size() + payload.size()));
  ++counts_.packets;
  pump(s);
}

}  // namespace chorale::transport::reliable
