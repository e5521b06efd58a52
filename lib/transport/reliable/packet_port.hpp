// SPDX-License-Identifier: Apache-2.0
// The streams' interface for sending packets.
#pragma once

#include <cstddef>
#include <span>

#include "packet.hpp"

namespace chorale::transport::reliable {

/// Unreliable datagrams to the other ranks.
class packet_port {
 public:
  /// Sends one datagram; `body` may be reused at once. `solicited` wakes the service thread of a peer that
  /// computes. Returns false if there is no room now: retry later. @throws error if sending has become
  /// impossible.
  virtual bool send(int peer, stream_kind kind, std::span<const std::byte> body, bool solicited) = 0;
  /// Counts a malformed datagram, which was discarded.
  virtual void refuse() noexcept = 0;

 protected:
  ~packet_port() = default;
};

}  // namespace chorale::transport::reliable
