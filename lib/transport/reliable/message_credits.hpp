// Messages between two ranks, as both count them.
#pragma once

#include <cstdint>

#include "sequence.hpp"

namespace chorale::transport::reliable {

/// A rank may have sent so many messages more than its peer has given back. What was given back travels as 32
/// bits with every packet of the other way. Not thread-safe.
class message_credits {
 public:
  /// Messages of this rank that the peer has not given back.
  [[nodiscard]] std::uint64_t outstanding() const noexcept { return sent_ - given_back_; }
  void on_sent() noexcept { ++sent_; }
  /// The peer tells how many it has given back; believed if so many were sent.
  void on_told(std::uint32_t released) noexcept {
    const std::uint64_t back = caught_up(given_back_, released);
    if (back <= sent_) given_back_ = back;
  }

  /// One of the peer's was given back.
  void on_released() noexcept { ++released_; }
  /// How many were, for the next packet; once that is sent the peer may know.
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
