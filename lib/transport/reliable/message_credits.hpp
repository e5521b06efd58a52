// SPDX-License-Identifier: Apache-2.0
// Credits for messages between two ranks, counted by both.
#pragma once

#include <cstdint>

#include "../wire/sequence.hpp"

namespace chorale::transport::reliable {

/// Limits how many messages a rank may have sent beyond those that its peer has released. The number of
/// released messages travels as 32 bits with every packet in the other direction. Not thread-safe.
class message_credits {
 public:
  /// Messages of this rank that the peer has not released.
  [[nodiscard]] std::uint64_t outstanding() const noexcept { return sent_ - peer_released_; }
  void on_sent() noexcept { ++sent_; }
  /// The peer reports how many it has released; ignored if that exceeds the number sent.
  void on_acknowledged(std::uint32_t released) noexcept {
    const std::uint64_t back = caught_up(peer_released_, released);
    if (back <= sent_) peer_released_ = back;
  }

  /// One of the peer's messages was released.
  void on_released() noexcept { ++released_; }
  /// Number of messages released, for the next packet; after sending that, call `mark_acknowledged`.
  [[nodiscard]] std::uint32_t released() const noexcept { return static_cast<std::uint32_t>(released_); }
  void mark_acknowledged() noexcept { acknowledged_ = released_; }
  [[nodiscard]] std::uint64_t unacknowledged() const noexcept { return released_ - acknowledged_; }

 private:
  std::uint64_t sent_ = 0;
  std::uint64_t peer_released_ = 0;
  std::uint64_t released_ = 0;
  std::uint64_t acknowledged_ = 0;
};

}  // namespace chorale::transport::reliable
