// What streams send by.
#pragma once

#include <cstddef>
#include <span>

#include "packet.hpp"

namespace chorale::transport::reliable {

/// Unreliable datagrams to the other ranks.
class packet_port {
 public:
  /// Sends one datagram; `body` may be reused at once. One that is `solicited` wakes the service thread of a
  /// peer that computes. Returns false if there is no room now: it is to be tried again. @throws error if
  /// nothing can be sent any more.
  virtual bool send(int peer, stream_kind kind, std::span<const std::byte> body, bool solicited) = 0;
  /// A datagram came that no rank of this group writes; it was thrown away.
  virtual void refuse() noexcept = 0;

 protected:
  ~packet_port() = default;
};

}  // namespace chorale::transport::reliable
