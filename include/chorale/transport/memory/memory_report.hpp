// SPDX-License-Identifier: Apache-2.0
// The memory and connections of a transport on one rank.
#pragma once

#include <cstddef>
#include <cstdint>

namespace chorale::transport {

/// Connections and memory of one rank's transport; bytes are this rank's current amounts. Registered memory
/// is pinned on devices that pin.
struct memory_report {
  int connections = 0;       ///< open now
  int peak_connections = 0;  ///< maximum of simultaneously open connections
  std::uint64_t opened = 0;  ///< connections made so far, including reconnections
  std::uint64_t closed = 0;  ///< ... and closed to stay within config::connections

  /// Blocks that peers write into; for ud: packets kept for the user, not registered.
  std::size_t mailbox_bytes = 0;
  std::size_t staging_bytes = 0;   ///< registered: sources of messages that are not sent inline
  std::size_t spare_bytes = 0;     ///< registered: kept for future connections
  std::size_t receive_bytes = 0;   ///< registered: buffers of the receives of connections
  std::size_t datagram_bytes = 0;  ///< registered: buffers of the datagram port
  /// Registered: kept by algorithms, such as the collective buffer of an allgather.
  std::size_t algorithm_bytes = 0;
  /// Work queues, completion queue and contexts of connections, estimated as mlx5 lays them out: requests of
  /// 192 bytes and their gather entries or inline data (at most 512 bytes), in units of 64 bytes, a queue of
  /// them rounded up to a power of two; completions of 64 bytes, receives of 32, and 512 bytes per queue
  /// pair. soft0 takes different amounts.
  std::size_t queue_bytes = 0;
  std::size_t user_bytes = 0;  ///< registered memory of the user

  /// Cost of one more connection after use in both directions; zero over datagrams.
  std::size_t bytes_per_peer = 0;

  /// All of the transport itself: everything but `user_bytes`.
  [[nodiscard]] std::size_t total_bytes() const noexcept {
    return mailbox_bytes + staging_bytes + spare_bytes + receive_bytes + datagram_bytes + algorithm_bytes +
           queue_bytes;
  }
};

// Estimates of adapter memory for queues, in bytes.
[[nodiscard]] std::size_t queue_pair_bytes(std::size_t depth, std::size_t inline_bytes) noexcept;
[[nodiscard]] std::size_t completion_queue_bytes(std::size_t entries) noexcept;
[[nodiscard]] std::size_t receive_queue_bytes(std::size_t depth) noexcept;

}  // namespace chorale::transport
