// SPDX-License-Identifier: Apache-2.0
// The receive window of a stream: order, duplicates, out-of-order packets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <chorale/core/copy_bytes.hpp>

#include "../wire/sequence.hpp"
#include "packet_pool.hpp"
#include "send_window.hpp"

namespace chorale::transport::reliable {

/// The receiving side of a stream. The expected packet is delivered at once; later packets that arrive early
/// are kept within the window, as long as the pool has room.
class receive_window {
 public:
  enum class verdict {
    expected,   ///< the next one
    early,      ///< ahead of the next one
    duplicate,  ///< received before
    beyond,     ///< further ahead than any valid sender sends
  };
  struct kept {
    std::byte* block = nullptr;
    std::uint32_t bytes = 0;
    [[nodiscard]] std::span<const std::byte> span() const noexcept { return {block, bytes}; }
  };

  explicit receive_window(packet_pool& pool, sequence first = first_sequence) noexcept
      : pool_(&pool), expected_(first) {}

  /// All packets before this one have been delivered.
  [[nodiscard]] sequence expected() const noexcept { return expected_; }
  /// Bit i: packet expected + 1 + i is kept.
  [[nodiscard]] std::uint64_t held() const noexcept { return held_; }

  [[nodiscard]] verdict judge(sequence number) const noexcept {
    const std::int32_t ahead = distance(expected_, number);
    if (ahead == 0) return verdict::expected;
    if (ahead < 0) return verdict::duplicate;
    if (static_cast<std::uint32_t>(ahead) >= send_window::widest) return verdict::beyond;
    return (held_ >> (ahead - 1) & 1U) != 0 ? verdict::duplicate : verdict::early;
  }

  /// Keeps an early packet. Returns false if the pool has no room, or the packet is larger than a block; the
  /// sender then has to retransmit it.
  bool keep(sequence number, std::span<const std::byte> bytes) {
    if (!pool_->has_room() || bytes.size() > pool_->block_bytes()) return false;
    std::byte* block = pool_->take();
    if (!bytes.empty()) copy_bytes(block, bytes.data(), bytes.size());
    early_[number % send_window::widest] = {block, static_cast<std::uint32_t>(bytes.size())};
    held_ |= std::uint64_t{1} << (distance(expected_, number) - 1);
    return true;
  }

  /// The expected packet was delivered. Returns true if the next one is kept.
  bool advance() noexcept {
    ++expected_;
    const bool next_is_here = (held_ & 1U) != 0;
    held_ >>= 1;
    if (next_is_here) waiting_ = true;
    return next_is_here;
  }
  [[nodiscard]] bool has_kept() const noexcept { return waiting_; }
  /// The expected packet, if it is kept. It stays until `drop_kept`.
  [[nodiscard]] kept* kept_one() noexcept {
    return waiting_ ? &early_[expected_ % send_window::widest] : nullptr;
  }
  /// Frees the block of the expected packet. Call before `advance`.
  void drop_kept() noexcept {
    pool_->give_back(early_[expected_ % send_window::widest].block);
    waiting_ = false;
  }

 private:
  packet_pool* pool_;
  sequence expected_;
  std::uint64_t held_ = 0;
  bool waiting_ = false;  ///< the expected packet itself is kept
  std::array<kept, send_window::widest> early_{};
};

}  // namespace chorale::transport::reliable
