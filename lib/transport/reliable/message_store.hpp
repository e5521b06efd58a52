// SPDX-License-Identifier: Apache-2.0
// Messages that wait to be received, or are in use by the user.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <chorale/transport/memory/per_peer.hpp>

#include "packet.hpp"
#include "packet_pool.hpp"

namespace chorale::transport::reliable {

/// The mailbox of a rank over streams: each sender's messages in order. They are handed out to the user
/// oldest first, and released in the same order. Not thread-safe.
class message_store {
 public:
  struct message {
    std::byte* block;
    std::uint32_t bytes;
    std::uint32_t call;
    std::uint32_t signature;
  };
  enum class outcome { kept, no_room, unexpected };

  /// At most `most` messages per sender, of at most `largest` bytes; the pool must outlive this.
  message_store(packet_pool& pool, int ranks, std::size_t largest, std::uint32_t most)
      : pool_(&pool), largest_(largest), most_(most), mask_(std::bit_ceil(most) - 1), from_(ranks) {}

  /// Stores a message; `unexpected` if no valid rank would send it now. Takes a block beyond the pool's limit
  /// if no other message of the sender is stored, or if the user awaits data of the sender: this message or a
  /// later one, while the user may hold the earlier ones.
  outcome put(int from, const packet& p, bool is_awaited);
  /// True if there is a message that was not handed out.
  [[nodiscard]] bool has_next(int from) const noexcept {
    const waiting* const w = from_.find(from);
    return w != nullptr && w->handed_out != w->arrived;
  }
  /// The oldest message not handed out. Precondition: has_next(from).
  [[nodiscard]] const message& next(int from) const noexcept {
    const waiting& w = *from_.find(from);
    return w.ring[w.handed_out & mask_];
  }
  /// Hands it out; it stays in place until it is released. Precondition: has_next(from).
  void hand_out(int from) noexcept { ++from_.find(from)->handed_out; }
  /// Releases the oldest message that was handed out. Precondition: there is one.
  void release(int from) noexcept {
    waiting& w = *from_.find(from);
    pool_->give_back(w.ring[w.released++ & mask_].block);
  }
  /// Maximum of simultaneously stored messages of one sender.
  [[nodiscard]] std::uint64_t most_at_once() const noexcept { return most_at_once_; }

 private:
  /// Counters of a sender's messages.
  struct waiting {
    std::unique_ptr<message[]> ring;
    std::uint64_t arrived = 0;
    std::uint64_t handed_out = 0;
    std::uint64_t released = 0;
  };

  packet_pool* pool_;
  std::size_t largest_;
  std::uint32_t most_;
  std::uint32_t mask_;  ///< maps a counter to a place in a ring
  std::uint64_t most_at_once_ = 0;
  per_peer<waiting> from_;
};

}  // namespace chorale::transport::reliable
