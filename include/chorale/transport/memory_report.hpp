// What a transport's connections and buffers cost a rank.
#pragma once

#include <cstddef>
#include <cstdint>

namespace chorale::transport {

/// Connections and memory of one rank's transport; bytes are this rank's, as they are now. Registered memory
/// is what is pinned on devices that pin.
struct memory_report {
  int connections = 0;       ///< open now
  int peak_connections = 0;  ///< most that were open at once
  std::uint64_t opened = 0;  ///< connections made so far, again or for the first time
  std::uint64_t closed = 0;  ///< ... and closed to keep within config::connections

  /// Blocks that peers write into; of ud: packets that are kept, not registered.
  std::size_t mailbox_bytes = 0;
  std::size_t staging_bytes = 0;   ///< registered: sources of messages that do not go inline
  std::size_t spare_bytes = 0;     ///< registered: kept for the next connections
  std::size_t receive_bytes = 0;   ///< registered: buffers of the shared receive queue
  std::size_t datagram_bytes = 0;  ///< registered: buffers of the datagram port
  /// Registered: what algorithms keep, as the collective buffer of an allgather.
  std::size_t algorithm_bytes = 0;
  /// Work queues, completion queue and contexts of connections: an estimate. It takes requests in units of 64
  /// bytes with their inline data (at most 512 bytes), completions of 64 bytes, receives of 32, and 512 bytes
  /// a queue pair, as adapters lay them out; not what soft0 takes.
  std::size_t queue_bytes = 0;
  std::size_t user_bytes = 0;  ///< memory of the user that is registered

  /// What one more connection costs, when it has been used in both directions; nothing over datagrams.
  std::size_t bytes_per_peer = 0;

  /// All of the transport's own: everything but `user_bytes`.
  [[nodiscard]] std::size_t total_bytes() const noexcept {
    return mailbox_bytes + staging_bytes + spare_bytes + receive_bytes + datagram_bytes + algorithm_bytes +
           queue_bytes;
  }
};

// Estimates of what adapters take for queues, in bytes.
[[nodiscard]] std::size_t queue_pair_bytes(std::size_t depth, std::size_t inline_bytes) noexcept;
[[nodiscard]] std::size_t completion_queue_bytes(std::size_t entries) noexcept;
[[nodiscard]] std::size_t receive_queue_bytes(std::size_t depth) noexcept;

}  // namespace chorale::transport
