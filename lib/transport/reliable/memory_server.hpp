// SPDX-License-Identifier: Apache-2.0
// Serves peers' accesses to this rank's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <variant>

#include <chorale/transport/memory/per_peer.hpp>

#include "exposures.hpp"
#include "packet.hpp"
#include "stream.hpp"

namespace chorale::transport::reliable {

/// Places puts, answers reads and executes atomic operations of peers, each after checking key, bounds and
/// rights. Answers for which the stream has no room wait here. Not thread-safe.
class memory_server {
 public:
  /// `room`: bytes of a packet.
  memory_server(std::uint64_t secret, int ranks, std::size_t room, stream_statistics& counts)
      : exposed_(secret), room_(room), counts_(&counts), replies_(ranks) {}

  [[nodiscard]] exposures& exposed() noexcept { return exposed_; }
  [[nodiscard]] const exposures& exposed() const noexcept { return exposed_; }

  /// False if it is refused.
  bool on_put(stream& from, const put_body& b, std::span<const std::byte> payload, const lazy_time& now);
  void on_read(stream& from, const read_body& b, const lazy_time& now);
  void on_atomic(stream& from, const atomic_body& b, const lazy_time& now);
  [[nodiscard]] bool owes_replies(int peer) const noexcept {
    const queue* const due = replies_.find(peer);
    return due != nullptr && !due->empty();
  }
  /// Sends as many replies as there is room for.
  void send_replies(stream& to, const lazy_time& now);
  /// An atomic operation on this rank's memory, atomic with respect to those of peers. Returns the old value.
  static std::uint64_t operate(std::uint64_t address, atomic_operation what, std::uint64_t first,
                               std::uint64_t second) noexcept;

 private:
  /// An answer that waits for room.
  struct due_reply {
    std::variant<read_body, atomic_reply_body, refusal_body> what;
    std::uint64_t sent = 0;  ///< bytes of a read sent so far
  };
  using queue = std::deque<due_reply>;
  void refuse(stream& to, const refusal_body& b, const lazy_time& now);

  exposures exposed_;
  std::size_t room_;
  stream_statistics* counts_;
  per_peer<queue> replies_;
};

}  // namespace chorale::transport::reliable
