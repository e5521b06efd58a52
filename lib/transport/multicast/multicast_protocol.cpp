#include "multicast_protocol.hpp"

#include "../messages.hpp"

namespace chorale::transport {

bool multicast_protocol::on_multicast(std::span<const std::byte> datagram) {
  return counted(take_multicast(datagram));
}

bool multicast_protocol::on_datagram(int from, std::uint16_t kind, std::span<const std::byte> body,
                                     time_point now) {
  return counted(take_datagram(from, kind, body, now));
}

bool multicast_protocol::take_multicast(std::span<const std::byte> datagram) {
  const auto read = read_datagram(datagram, options_.secret, options_.size);
  if (!read) return false;
  if (read->source == options_.rank) return true;
  switch (static_cast<multicast_kind>(read->kind)) {
    case multicast_kind::signal:
      return receiver_.on_signal(read->source, read->body);
    case multicast_kind::message:
      return receiver_.on_message(read->source, read->body);
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
