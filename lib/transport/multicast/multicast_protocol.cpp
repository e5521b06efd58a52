// SPDX-License-Identifier: Apache-2.0
#include "multicast_protocol.hpp"

#include "../wire/messages.hpp"

namespace chorale::transport {

bool multicast_protocol::on_multicast(const std::optional<received_datagram>& datagram) {
  return counted(datagram && take_multicast(*datagram));
}

bool multicast_protocol::on_datagram(int from, std::uint16_t kind, std::span<const std::byte> body,
                                     time_point now) {
  return counted(take_datagram(from, kind, body, now));
}

bool multicast_protocol::take_multicast(const received_datagram& d) {
  if (d.source == options_.rank) return true;
  switch (static_cast<multicast_kind>(d.kind)) {
    case multicast_kind::signal:
      return receiver_.on_signal(d.source, d.body);
    case multicast_kind::message:
      return receiver_.on_message(d.source, d.body);
    default:
      return false;
  }
}

bool multicast_protocol::take_datagram(int from, std::uint16_t kind, std::span<const std::byte> body,
                                       time_point now) {
  if (from == options_.rank) return false;
  switch (static_cast<multicast_kind>(kind)) {
    case multicast_kind::signal_missing:
      return sender_.on_signal_missing(body, now);
    case multicast_kind::message_missing:
      return sender_.on_messages_missing(body, now);
    case multicast_kind::acknowledgement:
      return sender_.on_acknowledgement(from, body);
    case multicast_kind::question:
      return receiver_.on_question(from, body);
    default:
      return false;
  }
}

}  // namespace chorale::transport
