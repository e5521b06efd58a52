// SPDX-License-Identifier: Apache-2.0
// Datagrams between endpoints: the common header, and the kinds that every transport has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <chorale/core/error.hpp>
#include <chorale/core/sendable.hpp>

#include "../status/status_messages.hpp"

namespace chorale::transport {

/// Precedes each datagram. All ranks of a job have the same binary interface, so it is sent as raw bytes.
struct datagram_header {
  static constexpr std::uint32_t expected_magic = 0x43484f52;  // "CHOR"
  std::uint32_t magic;
  std::uint16_t kind;
  std::uint16_t reserved;
  std::uint64_t secret;  ///< of the group: datagrams without it are ignored
  std::int32_t source;
  std::uint32_t bytes;
};
static_assert(sizeof(datagram_header) == 24 && detail::sendable<datagram_header>);

/// How often a message is sent that nobody acknowledges: if one datagram in ten is lost, one rank in 100,000
/// misses it.
constexpr int unacknowledged_repetitions = 5;

enum class datagram_kind : std::uint16_t {
  question = 1,            ///< what is your call of this number (8 bytes)?
  answer = 2,              ///< a status_answer
  notice = 3,              ///< a failure_notice: the communicator failed at the sender
  farewell = 4,            ///< the sender leaves: a farewell, then the transport's last words
  departure_question = 5,  ///< do you have a farewell of this rank (a departure)?
  departure_answer = 6,    ///< a departure
  first_of_transport = 16,
  /// Kinds from here on may be handled by a service thread while the rank's own thread is elsewhere.
  first_served = 64,
};

constexpr std::uint16_t raw(datagram_kind kind) noexcept {
  return static_cast<std::uint16_t>(kind);
}

/// Whether a rank, other than sender and receiver, has left.
struct departure {
  std::int32_t rank;
  std::uint32_t has_left;  ///< 1 if it has; in a question 0
};
static_assert(detail::sendable<departure>);

/// Why the communicator failed, as reported by the first rank that noticed. The text is truncated to fit into
/// a datagram.
struct failure_notice {
  static constexpr std::size_t text_bytes = 640;
  static constexpr std::size_t bytes_without_text = 44;
  std::int32_t code;
  std::int32_t rank_count;
  std::int32_t ranks[8];
  std::uint32_t bytes;
  char text[text_bytes];
};
static_assert(detail::sendable<failure_notice> &&
              offsetof(failure_notice, text) == failure_notice::bytes_without_text);

/// The raw bytes of a message; an empty message has none.
template <detail::sendable Message>
[[nodiscard]] std::span<const std::byte> wire(const Message& m) noexcept {
  return detail::bytes_of(m);
}
/// Reads a message of fixed size; nothing if the size differs.
template <detail::sendable Message>
[[nodiscard]] std::optional<Message> parse(std::span<const std::byte> bytes) noexcept {
  if (bytes.size() != sizeof(Message)) return std::nullopt;
  Message m;
  __builtin_memcpy(static_cast<void*>(&m), bytes.data(), sizeof m);
  return m;
}

struct received_datagram {
  int source;
  std::uint16_t kind;
  std::span<const std::byte> body;
};
/// Nothing if the secret differs or the source is no rank of a group of `size`. The caller must check that
/// the datagram comes from that rank.
inline std::optional<received_datagram> read_datagram(std::span<const std::byte> bytes, std::uint64_t secret,
                                                      int size) noexcept {
  datagram_header head;
  if (bytes.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, bytes.data(), sizeof head);
  const auto body = bytes.subspan(sizeof head);
  if (head.magic != datagram_header::expected_magic || head.secret != secret || head.source < 0 ||
      head.source >= size || head.bytes != body.size())
    return std::nullopt;
  return received_datagram{head.source, head.kind, body};
}

/// Encodes a failure in at most `room` bytes.
[[nodiscard]] std::vector<std::byte> write_notice(const error& why, std::size_t room);
/// The failure that rank `from` reports, with its ranks within 0..size-1; nothing if the bytes are malformed.
std::optional<error> read_notice(int from, int size, std::span<const std::byte> body);

}  // namespace chorale::transport
