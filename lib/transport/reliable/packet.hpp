// SPDX-License-Identifier: Apache-2.0
// The wire format of reliable streams, after the header of a datagram.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include <chorale/transport/reliable/requests.hpp>

#include "../wire/messages.hpp"
#include "../wire/sequence.hpp"

namespace chorale::transport::reliable {

/// Kinds of datagrams (`kind` in the datagram's header).
enum class stream_kind : std::uint16_t {
  packet = 64,    ///< a numbered packet: packet_header, a body by its type, payload
  signal = 65,    ///< signal_body
  report = 66,    ///< report_body: received packets, and optionally a retransmission request
  question = 67,  ///< question_body: packets sent so far; the receiver answers with a report
};

enum class packet_type : std::uint8_t {
  message = 1,         ///< for the mailbox: payload
  put = 2,             ///< put_body, payload: bytes for the receiver's memory
  read_request = 3,    ///< read_body
  read_reply = 4,      ///< reply_body, payload
  atomic_request = 5,  ///< atomic_body
  atomic_reply = 6,    ///< atomic_reply_body
  refusal = 7,         ///< refusal_body: an access that was not permitted
  first_mark = 8,      ///< a `path_mark`, without body or payload, like all types up to ...
  last_mark = 11,
};

[[nodiscard]] constexpr bool is_mark(packet_type t) noexcept {
  return t >= packet_type::first_mark && t <= packet_type::last_mark;
}
static_assert(static_cast<int>(packet_type::first_mark) == static_cast<int>(path_mark::offer) &&
              static_cast<int>(packet_type::last_mark) == static_cast<int>(path_mark::departure));

/// Flags of a packet.
inline constexpr std::uint8_t wants_report = 1;  ///< the receiver reports what has arrived
inline constexpr std::uint8_t is_notified = 2;   ///< put: the last part; notify the receiver
inline constexpr std::uint8_t has_refused = 4;   ///< an access of the receiver was refused
inline constexpr std::uint8_t known_flags = wants_report | is_notified | has_refused;

struct packet_header {
  std::uint32_t number;        ///< sequence number of this packet
  std::uint32_t acknowledged;  ///< the sender has received all packets of the receiver before this one
  std::uint32_t released;      ///< messages of the receiver that the sender has released
  std::uint8_t type;
  std::uint8_t flags;
  std::uint16_t reserved;
  std::uint32_t call;       ///< messages and notified puts: number of their call ...
  std::uint32_t signature;  ///< ... and its signature
};
static_assert(sizeof(packet_header) == 24 && detail::sendable<packet_header>);

/// A barrier's flag: only the newest counts, and it is not acknowledged. It is valid once all packets before
/// `after` have been delivered.
struct signal_body {
  std::uint64_t word;
  std::uint32_t after;
  std::uint32_t acknowledged;
  std::uint32_t released;
  std::uint32_t refused;  ///< 1: an access of the receiver was refused
};
static_assert(sizeof(signal_body) == 24);

/// The packets to retransmit.
enum class resend : std::uint32_t {
  nothing = 0,
  holes = 1,       ///< packets missing before the last one received
  everything = 2,  ///< all missing packets, and the signal if there is a newer one
};
struct report_body {
  std::uint64_t held;    ///< bit i: packet acknowledged + 1 + i has arrived
  std::uint64_t signal;  ///< the newest signal received
  std::uint32_t acknowledged;
  std::uint32_t released;
  std::uint32_t wanted;   ///< a `resend`
  std::uint32_t refused;  ///< as in signal_body
};
static_assert(sizeof(report_body) == 32);

struct question_body {
  std::uint64_t signal;  ///< the last signal sent
  std::uint32_t next;    ///< sequence number of the next packet
  std::uint32_t reserved;
};
static_assert(sizeof(question_body) == 16);

struct put_body {
  std::uint64_t address;
  std::uint32_t key;
  std::uint32_t reserved;
};
struct read_body {
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint32_t key;
  std::uint32_t ticket;  ///< identifies the reader's operation; repeated in the reply
};
struct reply_body {
  std::uint64_t offset;
  std::uint32_t ticket;
  std::uint32_t reserved;
};
struct atomic_body {
  std::uint64_t address;
  std::uint64_t first;   ///< summand; for compare_swap the expected value
  std::uint64_t second;  ///< compare_swap: the new value
  std::uint32_t key;
  std::uint32_t ticket;
  std::uint32_t operation;
  std::uint32_t reserved;
};
struct atomic_reply_body {
  std::uint64_t old;
  std::uint32_t ticket;
  std::uint32_t reserved;
};
enum class refusal_reason : std::uint32_t {
  key = 1,        ///< no memory is currently exposed under this key
  bounds = 2,     ///< the access leaves the exposed memory
  rights = 3,     ///< the memory is not exposed for this kind of access
  alignment = 4,  ///< the operand of an atomic operation is not aligned
  too_many = 5,   ///< more concurrent reads than supported
};
struct refusal_body {
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint32_t key;
  std::uint32_t ticket;  ///< 0 for a put
  std::uint32_t reason;
  std::uint32_t reserved;
};
static_assert(sizeof(put_body) == 16 && sizeof(read_body) == 24 && sizeof(reply_body) == 16 &&
              sizeof(atomic_body) == 40 && sizeof(atomic_reply_body) == 16 && sizeof(refusal_body) == 32);

/// A parsed packet: nothing in it refers to memory outside the bytes received.
struct packet {
  packet_header header{};
  std::variant<std::monostate, put_body, read_body, reply_body, atomic_body, atomic_reply_body, refusal_body>
      body;
  std::span<const std::byte> payload;
};

/// Nothing if the bytes are not a packet: too short for its type, too long for one without payload, or with
/// an unknown type, flag or operation.
std::optional<packet> read_packet(std::span<const std::byte> bytes) noexcept;

/// The reason for a refusal, as the end of a sentence.
[[nodiscard]] const char* describe(refusal_reason reason) noexcept;

}  // namespace chorale::transport::reliable
