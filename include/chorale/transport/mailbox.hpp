// How an inbox lies in memory: one word each for signal, notification and farewell, and a ring of blocks.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <chorale/core/cache_lines.hpp>
#include <chorale/core/call.hpp>

namespace chorale::transport {

/// Behind the payload of each block. The last 4 bytes are what the receiver polls: a message counter of the
/// pair. A counter that wide never repeats in a block's place, so nothing has to be reset between uses,
/// unlike the one-byte counter of P2 section 4.1.3. It comes last, and of its bytes the one that changes with
/// each message comes first, so that a device that copies byte by byte upwards (Soft-RoCE may) shows it when
/// all else is there.
struct mailbox_trailer {
  std::uint32_t bytes;
  std::uint32_t signature;
  std::uint32_t call;  ///< its number
  std::uint32_t count;
};
static_assert(sizeof(mailbox_trailer) == 16);
static_assert(std::endian::native == std::endian::little, "the counter is polled as the high half of a word");

/// True if `word`, the last 8 bytes of a block, says that message number `index` (from 0) is there.
constexpr bool has_arrived(std::uint64_t word, std::uint64_t index) noexcept {
  return word >> 32 == static_cast<std::uint32_t>(index + 1);
}

/// Payload bytes with padding: the payload then begins on a 16-byte boundary.
constexpr std::size_t padded(std::size_t bytes) noexcept {
  return (bytes + 15) / 16 * 16;
}

/// True if `word`, of the block where message number `index` is awaited, says that a later message came in
/// its place: the sender took the block, one of so many, for given back.
constexpr bool is_overrun(std::uint64_t word, std::uint64_t index, std::uint32_t blocks) noexcept {
  const auto count = static_cast<std::uint32_t>(word >> 32);
  return count != 0 && count - static_cast<std::uint32_t>(index + 1) - 1 < blocks;
}

/// Offsets in an inbox. The signal and the notification have cache lines of their own, since different
/// loops poll them.
struct mailbox_layout {
  static constexpr std::size_t signal_offset = 0;
  static constexpr std::size_t notification_offset = 64;
  /// Not zero when the peer has destroyed its communicator: the last that it writes.
  static constexpr std::size_t farewell_offset = 72;
  static constexpr std::size_t blocks_offset = 128;
  /// The largest payload that lies in the cache line of its counter.
  static constexpr std::size_t one_line_bytes = cache_line_bytes - sizeof(mailbox_trailer);

  /// `block_bytes`: payload and trailer of one block, more than the trailer; any number.
  constexpr mailbox_layout(std::size_t block_bytes, std::uint32_t blocks) noexcept
      : payload_(block_bytes - sizeof(mailbox_trailer)),
        room_(padded(block_bytes)),
        stride_(in_cache_lines(room_) + (room_ % 4096 == 0 ? 64 : 0)),
        first_end_(blocks_offset + in_cache_lines(room_)),
        last_end_(first_end_ + (blocks - 1) * stride_),
        blocks_(blocks) {}

  /// Largest payload of one message.
  [[nodiscard]] constexpr std::size_t payload_bytes() const noexcept { return payload_; }
  [[nodiscard]] constexpr std::uint32_t blocks() const noexcept { return blocks_; }
  /// What a message takes at most, with padding and trailer.
  [[nodiscard]] constexpr std::size_t message_bytes() const noexcept { return room_; }
  [[nodiscard]] constexpr std::size_t total_bytes() const noexcept {
    return blocks_offset + blocks_ * stride_;
  }
  /// One past the trailer of the block for message number `index` (from 0): the data is bottom-filled, so the
  /// counter of a block is always in the same place, the end of a cache line. A message of at most
  /// `one_line_bytes` lies in that line as a whole: nothing else changes hands between two cores.
  [[nodiscard]] constexpr std::size_t block_end(std::uint64_t index) const noexcept {
    return first_end_ + index % blocks_ * stride_;
  }
  /// The same of the message behind the one whose block ends at `end`, without a division by a number that is
  /// known at run time only, which takes some processors as long as all else in sending a short message.
  [[nodiscard]] constexpr std::size_t end_after(std::size_t end) const noexcept {
    return end == last_end_ ? first_end_ : end + stride_;
  }

 private:
  std::size_t payload_;
  std::size_t room_;
  /// Distance of blocks, whole cache lines: one more for a block of whole pages, or all the counters would
  /// compete for one set of the cache.
  std::size_t stride_;
  std::size_t first_end_;
  std::size_t last_end_;
  std::uint32_t blocks_;
};

/// A barrier signal: 48 bits of call number over 16 bits of signature.
constexpr std::uint64_t signal_word(call_id now) noexcept {
  return now.number << 16 | static_cast<std::uint16_t>(now.signature ^ now.signature >> 16);
}
constexpr std::uint64_t signal_number_mask = ~std::uint64_t{0xffff};
/// True if `seen` is of the call of `wanted` or of a later one; right across the wrap of 48 bits as long as
/// the two are less than 2^47 calls apart.
constexpr bool reached(std::uint64_t seen, std::uint64_t wanted) noexcept {
  return static_cast<std::int64_t>((seen & signal_number_mask) - (wanted & signal_number_mask)) >= 0;
}
constexpr bool same_call(std::uint64_t a, std::uint64_t b) noexcept {
  return ((a ^ b) & signal_number_mask) == 0;
}

/// True if a message of call `seen`, as far as 32 bits tell, is left over from a call before `now`.
constexpr bool is_left_over(std::uint32_t seen, call_id now) noexcept {
  return static_cast<std::int32_t>(seen - static_cast<std::uint32_t>(now.number)) < 0;
}

/// Reads 8 aligned bytes that the device writes.
inline std::uint64_t load_acquire(const std::byte* place) noexcept {
  return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(const_cast<std::byte*>(place)))
      .load(std::memory_order_acquire);
}

}  // namespace chorale::transport
