// Credits for messages between two ranks, counted by both.
#pragma once

#include <cstdint>

#include "sequence.hpp"

namespace chorale::transport::reliable {

/// Limits how many messages a rank may have sent beyond those that its peer has released. The number of
/// released messages travels as 32 bits with every packet in the other direction. Not thread-safe.
class message_credits {
 public:
  /// Messages of this rank that the peer has not released.
  [[nodiscard]] std::uint64_t outstanding() const noexcept { return sent_ - given_back_; }
  void on_sent() noexcept { ++sent_; }
  /// The peer reports how many it has released; ignored if that exceeds the number sent.
  void on_told(std::uint32_t released) noexcept {
    const std::uint64_t back = caught_up(given_back_, released);
    if (back <= sent_) given_back_ = back;
  }

  /// One of the peer's messages was released.
  void on_released() noexcept { ++released_; }
  /// Number of messages released, for the next packet; after sending that, call `mark_told`.
  [[nodiscard]] std::uint32_t released() const noexcept { return static_cast<std::uint32_t>(released_); }
  void mark_told() noexcept { told_ = released_; }
  [[nodiscard]] std::uint64_t untold() const noexcept { return released_ - told_; }

 private:
  std::uint64_t sent_ = 0;
  std::uint64_t given_back_ = 0;
  std::uint64_t released_ = 0;
  std::uint64_t told_ = 0;
};

}  // namespace chorale::transport::reliable
