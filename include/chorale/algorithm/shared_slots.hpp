// SPDX-License-Identifier: Apache-2.0
// Slots in memory that all ranks of a host share.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include <chorale/core/cache_lines.hpp>
#include <chorale/core/call.hpp>
#include <chorale/core/twin_mapping.hpp>

namespace chorale {

/// How the ranks of a host access words that they share: by atomic instructions. A transport in virtual time
/// has others, which count their costs (`words_of`).
struct processor_words {
  [[nodiscard]] static std::uint64_t load(std::uint64_t& word) noexcept {
    return std::atomic_ref<std::uint64_t>(word).load(std::memory_order_acquire);
  }
  static void store(std::uint64_t& word, std::uint64_t value) noexcept {
    std::atomic_ref<std::uint64_t>(word).store(value, std::memory_order_release);
  }
  /// @returns the sum.
  [[nodiscard]] static std::uint64_t add(std::uint64_t& word, std::uint64_t value) noexcept {
    return std::atomic_ref<std::uint64_t>(word).fetch_add(value, std::memory_order_acq_rel) + value;
  }
};

/// A slot per rank, in which the rank leaves an operand for the others, and a slot for the result; they are
/// used repeatedly. In each use every rank writes its slot and arrives. The last arriver finds all slots
/// written and publishes; the others poll until it has. So no rank waits for a rank that has already arrived,
/// such as a leader that has no core. Nothing here waits; the user of the class polls.
///
/// Uses alternate between two sets of slots and results. A set is written again only after all ranks have
/// arrived at the use in between, and so have finished with the set.
///
/// Each arrival adds the label of its call to the counter, so the last arriver sees at no extra cost whether
/// all ranks make the same call. Offsets do not depend on data written by peers. One thread at a time per
/// rank.
///
/// Writer: each rank: its slot, then the counter; the last arriver: the result, then the turn in its head.
/// Reader: the last arriver: the counter, then all slots; the others: that turn, then slots and result.
/// Pairs: the counter, release and acquire in one step; the turn, release and acquire. Slots that a rank
/// reads before it arrives again are overwritten only after all have arrived, again ordered by the counter.
template <class Words>
class basic_shared_slots {
 public:
  /// Payloads of at most this many bytes share a cache line with their flag.
  static constexpr std::size_t short_bytes = cache_line_spacing - 16;

  basic_shared_slots() = default;
  /// `memory`: `bytes(ranks, slot_bytes)` bytes, zero before the first use, aligned to 16 bytes.
  basic_shared_slots(std::span<std::byte> memory, int rank, int ranks, std::size_t slot_bytes,
                     Words words = {}) noexcept
      : words_(words), memory_(memory.data()), rank_(rank), ranks_(ranks), stride_(in_spacing(slot_bytes)) {}
  [[nodiscard]] static std::size_t bytes(int ranks, std::size_t slot_bytes) noexcept {
    const auto n = static_cast<std::size_t>(ranks);
    return cache_line_spacing + 2 * (n + 1) * (cache_line_spacing + in_spacing(slot_bytes));
  }
  /// The largest payload, in bytes.
  [[nodiscard]] std::size_t slot_bytes() const noexcept { return stride_; }

  /// Begins the next use.
  void begin(call_id now) noexcept {
    ++turn_;
    label_ = {now.signature, static_cast<std::uint32_t>(now.number)};
    arrival_ = std::uint64_t{label_.mixed()} << 32 | 1;
    complete_ += arrival_ * static_cast<std::uint64_t>(ranks_);
  }
  /// Where this rank writes its payload of `bytes`.
  [[nodiscard]] std::byte* mine(std::size_t bytes) noexcept { return payload(rank_, bytes); }
  /// To be called when this rank's slot is written. True on the last arriver, which has to publish.
  [[nodiscard]] bool arrive() noexcept {
    mark(head(rank_));
    detail::note_released();
    counted_ = words_.add(*reinterpret_cast<std::uint64_t*>(memory_), arrival_);
    detail::note_acquired();
    return static_cast<std::uint32_t>(counted_) == static_cast<std::uint32_t>(complete_);
  }

  // For the last arriver:
  /// True if all ranks make the same call as this rank.
  [[nodiscard]] bool agrees() const noexcept { return counted_ == complete_; }
  /// A rank that makes a different call; -1 if none is found.
  [[nodiscard]] int stranger() const noexcept {
    for (int r = 0; r < ranks_; ++r) {
      slot_head& h = head(r);
      if (words_.load(h.turn) != turn_ || h.of.call != label_.call || h.of.signature != label_.signature)
        return r;
    }
    return -1;
  }
  /// The low 32 bits of the number of the call in a rank's slot.
  [[nodiscard]] std::uint32_t call_of(int rank) const noexcept { return head(rank).of.call; }
  /// Where to write the result of `bytes`.
  [[nodiscard]] std::span<std::byte> result(std::size_t bytes) noexcept {
    return {payload(ranks_, bytes), bytes};
  }
  /// To be called when the result is written.
  void publish() noexcept {
    detail::note_released();
    mark(head(ranks_));
  }

  // For all ranks:
  [[nodiscard]] bool is_published() const noexcept {
    const bool is = words_.load(head(ranks_).turn) == turn_;
    if (is) detail::note_acquired();
    return is;
  }
  /// The payload in a rank's slot; valid once `is_published()`.
  [[nodiscard]] std::span<const std::byte> of(int rank, std::size_t bytes) const noexcept {
    return {payload(rank, bytes), bytes};
  }
  /// A rank that has not arrived; -1 if all have, so that the last arriver is about to publish.
  [[nodiscard]] int awaited() const noexcept {
    for (int i = 1; i < ranks_; ++i) {
      const int r = (rank_ + i) % ranks_;
      if (words_.load(head(r).turn) != turn_) return r;
    }
    return -1;
  }

 private:
  /// Identifies a call.
  struct label {
    std::uint32_t signature;
    std::uint32_t call;
    [[nodiscard]] std::uint32_t mixed() const noexcept {
      return static_cast<std::uint32_t>(detail::mix(std::uint64_t{call} << 32 | signature) >> 16);
    }
  };
  struct alignas(16) slot_head {
    std::uint64_t turn;  ///< the number of its use, stored last
    label of;
    std::byte payload[short_bytes];
  };
  static_assert(sizeof(slot_head) == cache_line_spacing);

  /// The layout after the counter: the heads of both sets, then the payloads too long for a head. The result
  /// is the slot after the last rank's.
  [[nodiscard]] std::size_t index(int slot) const noexcept {
    const auto slots = static_cast<std::size_t>(ranks_) + 1;
    return (turn_ % 2 == 0 ? 0 : slots) + static_cast<std::size_t>(slot);
  }
  [[nodiscard]] slot_head& head(int slot) const noexcept {
    return *reinterpret_cast<slot_head*>(memory_ + cache_line_spacing * (1 + index(slot)));
  }
  [[nodiscard]] std::byte* payload(int slot, std::size_t bytes) const noexcept {
    if (bytes <= short_bytes) return head(slot).payload;
    const auto heads = 2 * (static_cast<std::size_t>(ranks_) + 1);
    return memory_ + cache_line_spacing * (1 + heads) + index(slot) * stride_;
  }
  void mark(slot_head& h) const noexcept {
    h.of = label_;
    words_.store(h.turn, turn_);
  }

  [[no_unique_address]] Words words_{};
  std::byte* memory_ = nullptr;
  int rank_ = 0;
  int ranks_ = 0;
  std::size_t stride_ = 0;
  std::uint64_t turn_ = 0;  ///< the number of the current use, from 1
  label label_{};
  std::uint64_t arrival_ = 0;   ///< added to the counter by this rank
  std::uint64_t complete_ = 0;  ///< the counter when all ranks have arrived
  std::uint64_t counted_ = 0;   ///< the counter just after this rank arrived
};

/// Slots in memory of this process.
using shared_slots = basic_shared_slots<processor_words>;

}  // namespace chorale
