// SPDX-License-Identifier: Apache-2.0
// The multicast protocol's interface for sending, and for the liveness of peers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <chorale/core/clock.hpp>

#include "multicast_messages.hpp"

namespace chorale::transport {

struct multicast_options {
  int rank = 0;
  int size = 1;
  std::uint64_t secret = 0;       ///< contained in each multicast
  std::size_t payload_bytes = 0;  ///< largest message
  clock::duration patience{};     ///< shortest time from the beginning of a wait to its first NAK
};

/// Implemented by the owner of the queue pairs, and by a simulated network in tests. Both kinds of sending
/// are unreliable. Peers are identified by rank.
class multicast_port {
 public:
  /// The buffer for a datagram to the group; write to it only while `is_free(index)`. Its content stays, for
  /// retransmission.
  [[nodiscard]] virtual std::span<std::byte> place(std::uint32_t index) noexcept = 0;
  /// True if no send from that buffer is pending.
  [[nodiscard]] virtual bool is_free(std::uint32_t index) = 0;
  /// Sends the first `bytes` of a buffer to all ranks of the group. False if it cannot be sent now: retry
  /// later.
  virtual bool multicast(std::uint32_t index, std::size_t bytes) = 0;
  /// Sends a datagram to one rank; `solicited` wakes its service thread. False if it cannot be sent now.
  virtual bool send_to(int rank, multicast_kind kind, std::span<const std::byte> body, bool solicited) = 0;

  /// True if that rank has left, or is dead.
  [[nodiscard]] virtual bool has_left(int rank) const noexcept = 0;
  /// True if that rank has left, is dead, or does not answer requests for a sign of life.
  [[nodiscard]] virtual bool is_lost(int rank) const noexcept = 0;
  /// Asks for a sign of life; ranks that have not joined the group answer, too.
  virtual void ask_for_life(int rank) = 0;

 protected:
  ~multicast_port() = default;
};

}  // namespace chorale::transport
