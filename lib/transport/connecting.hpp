// What two ranks tell each other by datagram about their connection.
#pragma once

#include <cstdint>
#include <type_traits>

#include <chorale/transport/connected.hpp>

#include "messages.hpp"

namespace chorale::transport {

constexpr auto connect_kind = static_cast<std::uint16_t>(datagram_kind::first_of_transport);
constexpr auto close_kind = static_cast<std::uint16_t>(connect_kind + 1);

/// Either side may send it first, and both at once: it says all there is to say, so the order does not
/// matter. A side may send when it has heard that the other's queue pair takes its messages.
struct connected::connect_message {
  std::uint32_t qp_number;
  std::uint32_t psn;
  std::uint64_t inbox;
  std::uint32_t inbox_key;
  std::uint32_t generation;
  std::uint32_t hears_you;
  std::uint32_t wants_answer;
};

/// A request to close the connection of that generation, or the answer to it. Lost requests are repeated
/// until they are answered; a request is answered in one way only, however often it comes.
struct connected::close_message {
  enum class verdict : std::uint32_t { request, agreed, refused };
  verdict what;
  std::uint32_t generation;
  std::uint32_t attempt;
  std::uint32_t reserved;
  // Of a request: what the sender has sent by this connection and its predecessors, and what it has got.
  std::uint64_t sent;
  std::uint64_t received;
  std::uint64_t released;
  std::uint64_t signal_sent;
  std::uint64_t signal_seen;
  std::uint64_t notices_sent;
  std::uint64_t notices_received;
};

}  // namespace chorale::transport
