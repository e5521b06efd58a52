// Messages that have come and wait to be received, or are with the user.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "packet.hpp"
#include "packet_pool.hpp"

namespace chorale::transport::reliable {

/// The mailbox of a rank over streams: for each sender its messages in order. The oldest are handed out to
/// the user first, and given back in the same order. Not thread-safe.
class message_store {
 public:
  struct message {
    std::byte* block;
    std::uint32_t bytes;
    std::uint32_t call;
    std::uint32_t signature;
  };
  enum class outcome { kept, no_room, unexpected };

  /// At most `most` messages of a sender, of at most `largest` bytes; the pool outlives it.
  message_store(packet_pool& pool, int ranks, std::size_t largest, std::uint32_t most)
      : pool_(&pool),
        largest_(largest),
        most_(most),
        mask_(std::bit_ceil(most) - 1),
        from_(static_cast<std::size_t>(ranks)) {}

  /// Keeps a message; `unexpected` if no rank of the group sends such a one now. The pool is asked for a
  /// block beyond its limit if there is no other message of the sender, or if something of the sender is
  /// awaited: what that is comes behind this message, or is it, and the user may hold those before.
  outcome put(int from, const packet& p, bool is_awaited);
  /// True if there is a message that has not been handed out.
  [[nodiscard]] bool has_next(int from) const noexcept {
    const waiting& w = at(from);
    return w.handed_out != w.arrived;
  }
  /// The oldest one. Precondition: has_next(from).
  [[nodiscard]] const message& next(int from) const noexcept {
    return at(from).ring[at(from).handed_out & mask_];
  }
  /// It stays where it is until it is given back. Precondition: has_next(from).
  void hand_out(int from) noexcept { ++at(from).handed_out; }
  /// The oldest message that was handed out is given back.
  void release(int from) noexcept {
    waiting& w = at(from);
    pool_->give_back(w.ring[w.released++ & mask_].block);
  }
  /// Most messages of one sender that were here at once.
  [[nodiscard]] std::uint64_t most_at_once() const noexcept { return most_at_once_; }

 private:
  /// The messages of a sender, counted.
  struct waiting {
    std::unique_ptr<message[]> ring;  ///< made when the first one comes
    std::uint64_t arrived = 0;
    std::uint64_t handed_out = 0;
    std::uint64_t released = 0;
  };
  [[nodiscard]] waiting& at(int from) noexcept { return from_[static_cast<std::size_t>(from)]; }
  [[nodiscard]] const waiting& at(int from) const noexcept { return from_[static_cast<std::size_t>(from)]; }

  packet_pool* pool_;
  std::size_t largest_;
  std::uint32_t most_;
  std::uint32_t mask_;  ///< of a place in a ring
  std::uint64_t most_at_once_ = 0;
  std::vector<waiting> from_;
};

}  // namespace chorale::transport::reliable
