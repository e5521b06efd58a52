// What the multicast protocol sends through, and asks about its peers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "multicast_messages.hpp"

namespace chorale::transport {

/// Implemented by those who have the queue pairs and know who is there; by a simulated net in tests. Both
/// ways of sending are unreliable. Peers are ranks.
class multicast_port {
 public:
  /// Where a datagram to the group is written, to be written only while `is_free(index)`. It stays there, so
  /// that it can be sent again.
  [[nodiscard]] virtual std::span<std::byte> place(std::uint32_t index) noexcept = 0;
  /// True if nothing that was sent from that place is under way any more.
  [[nodiscard]] virtual bool is_free(std::uint32_t index) = 0;
  /// Sends the first `bytes` of a place to all ranks of the group. False if that has to wait: try later.
  virtual bool multicast(std::uint32_t index, std::size_t bytes) = 0;
  /// Sends one rank a datagram; a `solicited` one wakes its service thread. False if that has to wait.
  virtual bool send_to(int rank, multicast_kind kind, std::span<const std::byte> body, bool solicited) = 0;

  /// True if that rank has left, or is dead.
  [[nodiscard]] virtual bool has_left(int rank) const noexcept = 0;
  /// True if that rank has left, is dead, or gives no sign of life though it was asked for one.
  [[nodiscard]] virtual bool is_lost(int rank) const noexcept = 0;
  /// Asks for a sign of life, which ranks give that have not joined the group, too.
  virtual void ask_for_life(int rank) = 0;

 protected:
  ~multicast_port() = default;
};

}  // namespace chorale::transport
