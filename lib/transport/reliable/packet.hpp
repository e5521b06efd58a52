// The wire format of reliable streams: what stands behind the header of a datagram.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <variant>

#include <chorale/transport/reliable/requests.hpp>

#include "../messages.hpp"
#include "sequence.hpp"

namespace chorale::transport::reliable {

/// Kinds of datagrams (`kind` of the datagram's header).
enum class stream_kind : std::uint16_t {
  packet = 64,    ///< a numbered packet: packet_header, a body by its type, payload
  signal = 65,    ///< signal_body
  report = 66,    ///< report_body: what has come, and perhaps a request to send again
  question = 67,  ///< question_body: what was sent; the receiver answers with a report
};

enum class packet_type : std::uint8_t {
  message = 1,         ///< of the mailbox: payload
  put = 2,             ///< put_body, payload: bytes for the receiver's memory
  read_request = 3,    ///< read_body
  read_reply = 4,      ///< reply_body, payload
  atomic_request = 5,  ///< atomic_body
  atomic_reply = 6,    ///< atomic_reply_body
  refusal = 7,         ///< refusal_body: an access that was not allowed
  first_mark = 8,      ///< a `path_mark`: no body and no payload, as all up to ...
  last_mark = 11,
};

[[nodiscard]] constexpr bool is_mark(packet_type t) noexcept {
  return t >= packet_type::first_mark && t <= packet_type::last_mark;
}
static_assert(static_cast<int>(packet_type::first_mark) == static_cast<int>(path_mark::offer) &&
              static_cast<int>(packet_type::last_mark) == static_cast<int>(path_mark::departure));

/// Flags of a packet.
inline constexpr std::uint8_t wants_report = 1;  ///< the receiver tells what it has
inline constexpr std::uint8_t is_notified = 2;   ///< put: the last part, and the receiver is to know of it
inline constexpr std::uint8_t has_refused = 4;   ///< an access of the receiver's was not allowed
inline constexpr std::uint8_t known_flags = wants_report | is_notified | has_refused;

struct packet_header {
  std::uint32_t number;        ///< of this packet in the stream
  std::uint32_t acknowledged;  ///< the sender has all packets of the receiver before this one
  std::uint32_t released;      ///< messages of the receiver that the sender has given back
  std::uint8_t type;
  std::uint8_t flags;
  std::uint16_t reserved;
  std::uint32_t call;       ///< messages and notified puts: the call they belong to ...
  std::uint32_t signature;  ///< ... and its signature
};
static_assert(sizeof(packet_header) == 24);

/// A barrier's flag: the newest one counts, none is acknowledged. It holds once all packets before `after`
/// have been delivered.
struct signal_body {
  std::uint64_t word;
  std::uint32_t after;
  std::uint32_t acknowledged;
  std::uint32_t released;
  std::uint32_t refused;  ///< 1: an access of the receiver's was not allowed
};
static_assert(sizeof(signal_body) == 24);

/// What to send again.
enum class resend : std::uint32_t {
  nothing = 0,
  holes = 1,       ///< what is missing before the last packet that is held
  everything = 2,  ///< all that is missing, and the signal if there is a newer one
};
struct report_body {
  std::uint64_t held;    ///< bit i: packet acknowledged + 1 + i is here
  std::uint64_t signal;  ///< the newest signal that came
  std::uint32_t acknowledged;
  std::uint32_t released;
  std::uint32_t wanted;   ///< a `resend`
  std::uint32_t refused;  ///< as in signal_body
};
static_assert(sizeof(report_body) == 32);

struct question_body {
  std::uint64_t signal;  ///< the last one that was sent
  std::uint32_t next;    ///< number of the packet that will be sent next
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
  std::uint32_t ticket;  ///< the reader's number of the operation, repeated in the reply
};
struct reply_body {
  std::uint64_t offset;
  std::uint32_t ticket;
  std::uint32_t reserved;
};
struct atomic_body {
  std::uint64_t address;
  std::uint64_t first;   ///< the summand; what is expected
  std::uint64_t second;  ///< compare_swap: what is wanted
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
  key = 1,        ///< no memory is exposed under this key now
  bounds = 2,     ///< the access leaves the exposed memory
  rights = 3,     ///< the memory is not exposed for this access
  alignment = 4,  ///< the word of an atomic operation is not aligned
  too_many = 5,   ///< more reads at once than are served
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

/// A packet that was read: nothing in it points outside of the bytes it came in.
struct packet {
  packet_header header{};
  std::variant<std::monostate, put_body, read_body, reply_body, atomic_body, atomic_reply_body, refusal_body>
      body;
  std::span<const std::byte> payload;
};

/// Nothing if the bytes are no packet: too short for their type, too long for one without payload, an unknown
/// type, flag or operation.
std::optional<packet> read_packet(std::span<const std::byte> bytes) noexcept;

/// Why an access was refused, as a sentence's end.
[[nodiscard]] const char* describe(refusal_reason reason) noexcept;

}  // namespace chorale::transport::reliable
