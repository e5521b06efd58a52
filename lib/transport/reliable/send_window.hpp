// SPDX-License-Identifier: Apache-2.0
// The send window of a stream: packets sent but not acknowledged.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <chorale/core/clock.hpp>

#include "../wire/sequence.hpp"
#include "packet_pool.hpp"

namespace chorale::transport::reliable {

/// The sending side of a stream. Packets stay here unchanged until they are acknowledged. Acknowledgements of
/// packets that were never sent are ignored.
class send_window {
 public:
  /// Maximum size of a window: a report has 64 bits for received packets.
  static constexpr std::uint32_t widest = 64;
  struct entry {
    std::byte* block = nullptr;
    std::uint32_t bytes = 0;
    clock::time_point sent_at{};
  };

  explicit send_window(packet_pool& pool, sequence first = first_sequence) noexcept
      : pool_(&pool), oldest_(first), unsent_(first), next_(first) {}
  send_window(send_window&& other) noexcept = default;
  send_window& operator=(send_window&&) = delete;

  [[nodiscard]] sequence oldest() const noexcept { return oldest_; }  ///< all earlier packets have arrived
  /// All earlier packets were handed to the device.
  [[nodiscard]] sequence unsent() const noexcept { return unsent_; }
  [[nodiscard]] sequence next() const noexcept { return next_; }  ///< number of the next packet
  [[nodiscard]] std::uint32_t outstanding() const noexcept { return next_ - oldest_; }

  /// Adds a packet and takes ownership of the block. Precondition: outstanding() < widest.
  entry& push(std::byte* block, std::uint32_t bytes) noexcept {
    entry& e = at(next_++);
    e = {block, bytes, {}};
    return e;
  }
  /// The next packet was handed to the device.
  void mark_sent() noexcept { ++unsent_; }

  /// All packets before `upto` have arrived. Returns how many of them are newly acknowledged; 0 if `upto` is
  /// invalid.
  std::uint32_t acknowledge(sequence upto) noexcept {
    const std::int32_t count = distance(oldest_, upto);
    if (count <= 0 || distance(upto, unsent_) < 0) return 0;
    for (; oldest_ != upto; ++oldest_) pool_->give_back(at(oldest_).block);
    return static_cast<std::uint32_t>(count);
  }

  /// Calls `send(number, entry)` for each packet that was sent, is not acknowledged, and is not marked in
  /// `held` (bit i: oldest + 1 + i), up to the last one marked or, with `all`, the last one sent.
  template <class Send>
  void for_missing(std::uint64_t held, bool all, Send&& send) {
    const std::uint32_t sent = unsent_ - oldest_;
    std::uint32_t end = held == 0 ? 0 : 64 - static_cast<std::uint32_t>(__builtin_clzll(held));
    if (all || end > sent) end = sent;
    for (std::uint32_t i = 0; i < end; ++i) {
      if (i > 0 && (held >> (i - 1) & 1U) != 0) continue;
      send(oldest_ + i, at(oldest_ + i));
    }
  }
  [[nodiscard]] entry& at(sequence number) noexcept { return entries_[number % widest]; }

 private:
  packet_pool* pool_;
  sequence oldest_;
  sequence unsent_;
  sequence next_;
  std::array<entry, widest> entries_{};
};

}  // namespace chorale::transport::reliable
