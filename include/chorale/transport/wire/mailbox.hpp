// SPDX-License-Identifier: Apache-2.0
// The memory layout of an inbox: one word each for signal, notification and farewell, and a ring of blocks.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <chorale/core/cache_lines.hpp>
#include <chorale/core/call.hpp>
#include <chorale/core/sendable.hpp>

namespace chorale::transport {

/// Follows the payload of each block. The receiver polls its last 4 bytes, a message counter of the pair of
/// ranks. A 32-bit counter never repeats in the same block, so nothing has to be reset between uses, unlike
/// with the one-byte counter of P2 section 4.1.3. It comes last, and its byte that changes with each message
/// comes first, so that even a device that copies byte by byte in address order (Soft-RoCE may) shows a new
/// counter only after all other data.
///
/// Writer: the sender's device: payload and trailer, the counter last.
/// Reader: the receiver: the counter, by `load_acquire`, then the rest.
/// Pair: that acquire, and the release by which `soft0` stores the last word of a message (`ordered_copy`);
///   with an adapter, the ordering that the device guarantees.
struct mailbox_trailer {
  std::uint32_t bytes;
  std::uint32_t signature;
  std::uint32_t call;  ///< its number
  std::uint32_t count;
};
static_assert(sizeof(mailbox_trailer) == 16 && detail::sendable<mailbox_trailer>);
static_assert(std::endian::native == std::endian::little, "the counter is polled as the high half of a word");

/// True if `word`, the last 8 bytes of a block, shows that message number `index` (from 0) has arrived.
constexpr bool has_arrived(std::uint64_t word, std::uint64_t index) noexcept {
  return word >> 32 == static_cast<std::uint32_t>(index + 1);
}

/// The counter of a message that polling must not detect: the receiver calls `show` once it knows that the
/// message is complete. Some devices place it byte by byte, so that a poller finds some of its bytes beside
/// some of the block's previous counter. No such mixture equals `count` or the counter that would overwrite
/// it, since each byte differs from theirs.
constexpr std::uint32_t unseen(std::uint32_t count, std::uint32_t blocks) noexcept {
  std::uint32_t all = ~count;
  for (std::uint32_t byte = 0xff, lowest = 1; byte != 0; byte <<= 8, lowest <<= 8)
    if (((all ^ (count + blocks)) & byte) == 0) all ^= lowest;
  return all;
}
/// Sets the counter of the block that ends at `end`.
inline void show(std::byte* end, std::uint32_t count) noexcept {
  std::memcpy(end - sizeof count, &count, sizeof count);
}

/// Messages of at most this many bytes, with padding and trailer, are short.
constexpr std::size_t short_message_bytes = 256;

/// Payload bytes with padding. The payload of a short message begins on a 16-byte boundary, so that few bytes
/// are sent; that of a longer one on a cache line, since both sides copy it faster from there.
constexpr std::size_t padded(std::size_t bytes) noexcept {
  const std::size_t message = (bytes + 15) / 16 * 16 + sizeof(mailbox_trailer);
  return (message <= short_message_bytes ? message : in_cache_lines(message)) - sizeof(mailbox_trailer);
}

/// True if `word`, from the block where message number `index` is expected, shows that the next message of
/// that block overwrote it: the sender considered the block, one of `blocks`, released.
constexpr bool is_overrun(std::uint64_t word, std::uint64_t index, std::uint32_t blocks) noexcept {
  return has_arrived(word, index + blocks);
}

/// Offsets in an inbox. The signal and the notification have separate cache lines, since different loops poll
/// them.
struct mailbox_layout {
  static constexpr std::size_t signal_offset = 0;
  static constexpr std::size_t notification_offset = 64;
  /// Nonzero once the peer has destroyed its communicator: the last word that it writes.
  static constexpr std::size_t farewell_offset = 72;
  static constexpr std::size_t blocks_offset = 128;
  /// The largest payload that fits into the cache line of its counter.
  static constexpr std::size_t one_line_bytes = cache_line_bytes - sizeof(mailbox_trailer);

  /// `block_bytes`: payload and trailer of one block; any number larger than the trailer.
  constexpr mailbox_layout(std::size_t block_bytes, std::uint32_t blocks) noexcept
      : payload_(block_bytes - sizeof(mailbox_trailer)),
        room_(padded(payload_) + sizeof(mailbox_trailer)),
        stride_(in_cache_lines(room_) + (room_ % 4096 == 0 ? 64 : 0)),
        first_end_(blocks_offset + in_cache_lines(room_)),
        last_end_(first_end_ + (blocks - 1) * stride_),
        blocks_(blocks) {}

  /// Largest payload of one message in bytes.
  [[nodiscard]] constexpr std::size_t payload_bytes() const noexcept { return payload_; }
  [[nodiscard]] constexpr std::uint32_t blocks() const noexcept { return blocks_; }
  /// Maximum size of a message in bytes, with padding and trailer.
  [[nodiscard]] constexpr std::size_t message_bytes() const noexcept { return room_; }
  [[nodiscard]] constexpr std::size_t total_bytes() const noexcept {
    return blocks_offset + blocks_ * stride_;
  }
  /// Offset past the trailer of the block for message number `index` (from 0). Data is bottom-filled, so that
  /// a block's counter is always in the same place, at the end of a cache line. A message of at most
  /// `one_line_bytes` lies entirely in that line, so that only one line moves between two cores.
  [[nodiscard]] constexpr std::size_t block_end(std::uint64_t index) const noexcept {
    return first_end_ + index % blocks_ * stride_;
  }
  /// The same for the message after the one whose block ends at `end`, without dividing by a number known
  /// only at run time, which on some processors takes as long as everything else in sending a short message.
  [[nodiscard]] constexpr std::size_t end_after(std::size_t end) const noexcept {
    return end == last_end_ ? first_end_ : end + stride_;
  }

 private:
  std::size_t payload_;
  std::size_t room_;
  /// Distance of blocks in whole cache lines: one more for blocks of whole pages, since otherwise all
  /// counters would compete for one cache set.
  std::size_t stride_;
  std::size_t first_end_;
  std::size_t last_end_;
  std::uint32_t blocks_;
};

/// A signal: 46 bits of call number above 2 bits of its phase and the upper 16 bits of its signature, a hash.
constexpr std::uint64_t signal_word(call_id now) noexcept {
  static_assert(call_id::most_phases == 4);
  return (now.number << 2 | static_cast<unsigned>(now.phase())) << 16 | now.signature >> 16;
}
/// True if `seen` is from the call and phase of `wanted` or from later ones; correct across the 46-bit wrap
/// if the two are less than 2^45 calls apart.
constexpr bool reached(std::uint64_t seen, std::uint64_t wanted) noexcept {
  constexpr std::uint64_t mask = ~std::uint64_t{0xffff};
  return static_cast<std::int64_t>((seen & mask) - (wanted & mask)) >= 0;
}
/// True if both are of calls of one number that have different signatures.
constexpr bool contradicts(std::uint64_t seen, std::uint64_t wanted) noexcept {
  const std::uint64_t differences = seen ^ wanted;
  return differences >> 18 == 0 && (differences & 0xffff) != 0;
}

/// True if a message of call `seen` (its lower 32 bits) is left over from a call before `now`.
constexpr bool is_left_over(std::uint32_t seen, call_id now) noexcept {
  return static_cast<std::int32_t>(seen - static_cast<std::uint32_t>(now.number)) < 0;
}

/// Loads 8 aligned bytes that the device writes.
inline std::uint64_t load_acquire(const std::byte* place) noexcept {
  return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(const_cast<std::byte*>(place)))
      .load(std::memory_order_acquire);
}

}  // namespace chorale::transport
