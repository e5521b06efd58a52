// SPDX-License-Identifier: Apache-2.0
// Multicast datagrams: two kinds to the group, four from one rank to another. docs/multicast.md shows them
// byte by byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "../wire/messages.hpp"
#include "../wire/sequence.hpp"

namespace chorale::transport {

/// Number of messages that a sender keeps, and that a receiver may hold of one sender.
inline constexpr std::uint32_t multicast_window = 32;
/// Sequence number of each sender's first message: close to the wrap, so that all but the shortest runs pass
/// the wrap.
inline constexpr std::uint32_t first_multicast = 0xffff'fff0U;
static_assert((multicast_window & (multicast_window - 1)) == 0 && multicast_window < 64,
              "places are found by the low bits of a sequence number, and a NAK has a bit for each");

/// Kinds in datagram_header; the service thread handles all of them.
enum class multicast_kind : std::uint16_t {
  signal = 80,           ///< to the group: a signal_word (8 bytes)
  message = 81,          ///< to the group: a message_head, then the payload
  signal_missing = 82,   ///< NAK: the signal_word that the rank waits for (8 bytes)
  message_missing = 83,  ///< NAK: a missing_messages
  acknowledgement = 84,  ///< a message_state
  question = 85,         ///< a sender_state: what has arrived? Answered by an acknowledgement, and NAKs
  last = 95,
};

struct message_head {
  std::uint32_t sequence;   ///< number of the sender's message to this group
  std::uint32_t signature;  ///< signature of the call
  std::uint64_t call;       ///< number of the call
};
struct missing_messages {
  std::uint32_t first;  ///< first missing message
  std::uint32_t zero;
  std::uint64_t here;  ///< bit i: message first + i has arrived
};
struct message_state {
  std::uint32_t released;  ///< all earlier messages have been released
  std::uint32_t arrived;   ///< all earlier messages have arrived
  std::uint64_t signal;    ///< latest signal word received; 0: none
};
struct sender_state {
  std::uint32_t next;  ///< sequence number of the next message
  std::uint32_t zero;
  std::uint64_t signal;  ///< latest signal word sent; 0: none
};
static_assert(detail::sendable<message_head> && sizeof(message_head) == 16 &&
              sizeof(missing_messages) == 16 && sizeof(message_state) == 16 && sizeof(sender_state) == 16);

constexpr auto raw(multicast_kind kind) noexcept {
  return static_cast<std::uint16_t>(kind);
}

}  // namespace chorale::transport
