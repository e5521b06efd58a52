// SPDX-License-Identifier: Apache-2.0
// The status that a rank reports to others that wait for it.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>

namespace chorale::transport {

/// A rank's status: its current call, previous calls, and the rank that it waits for. Its own thread writes
/// it with plain stores; the service thread reads it to answer for a rank that is elsewhere.
///
/// Writer: the rank: writes the words of a call into the row of an older call, then `current_`.
/// Reader: the service thread: reads `current_`, the words, and `current_` again.
/// Pairs: release and acquire of `current_` and of each word: a reader that has seen a word of a newer call
///   sees in its second read of `current_` that the row was reused.
class status_page {
 public:
  static constexpr std::size_t kept = 8;
  /// Special values: the rank does not wait, or waits for any rank.
  static constexpr std::int32_t for_none = -2;
  static constexpr std::int32_t for_any = -1;

  [[gnu::always_inline]] void begin(std::uint64_t number, const call& c) noexcept {
    // Word by word, since otherwise the compiler copies the call through memory before storing it.
    const auto word = [&c](std::size_t i) {
      std::uint64_t text;
      std::memcpy(&text, reinterpret_cast<const std::byte*>(&c) + i * sizeof text, sizeof text);
      return text;
    };
    // Release order, so that a reader that sees a word of this call also sees that the previous call has
    // begun. Unrolled, since GCC 12 keeps a loop at -O2: constant parts of a call are then stored as
    // constants.
    static_assert(words == 4);
    auto& row = calls_[number % kept];
    row[0].store(word(0), std::memory_order_release);
    row[1].store(word(1), std::memory_order_release);
    row[2].store(word(2), std::memory_order_release);
    row[3].store(word(3), std::memory_order_release);
    current_.store(number, std::memory_order_release);
  }
  void complete(std::uint64_t number) noexcept { completed_.store(number, std::memory_order_relaxed); }
  /// Records a wait; without further calls, the rank counts as not waiting after `until`.
  void note_wait(std::int32_t peer, clock::time_point since, clock::time_point until) noexcept {
    waits_since_.store(since.time_since_epoch().count(), std::memory_order_relaxed);
    waits_until_.store(until.time_since_epoch().count(), std::memory_order_relaxed);
    waits_for_.store(peer, std::memory_order_relaxed);
  }
  void end_wait() noexcept { waits_for_.store(for_none, std::memory_order_relaxed); }

  /// Number of the current or last call; of the last completed call.
  [[nodiscard]] std::uint64_t current() const noexcept { return current_.load(std::memory_order_acquire); }
  [[nodiscard]] std::uint64_t completed() const noexcept {
    return completed_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::int32_t waits_for(clock::time_point now) const noexcept {
    const bool over = now.time_since_epoch().count() > waits_until_.load(std::memory_order_relaxed);
    return over ? for_none : waits_for_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::chrono::milliseconds waited(clock::time_point now) const noexcept {
    const clock::time_point since{clock::duration{waits_since_.load(std::memory_order_relaxed)}};
    return std::chrono::duration_cast<std::chrono::milliseconds>(now - since);
  }
  /// The call of that number, if it has begun and has not been overwritten yet.
  [[nodiscard]] std::optional<call> find(std::uint64_t number) const noexcept {
    if (number == 0 || number > current() || is_overwritten(number)) return std::nullopt;
    std::array<std::uint64_t, words> text;
    for (std::size_t i = 0; i < words; ++i)
      text[i] = calls_[number % kept][i].load(std::memory_order_acquire);
    if (is_overwritten(number)) return std::nullopt;
    call found;
    std::memcpy(static_cast<void*>(&found), text.data(), sizeof found);
    return found;
  }

 private:
  static constexpr std::size_t words = sizeof(call) / sizeof(std::uint64_t);
  static_assert(sizeof(call) % sizeof(std::uint64_t) == 0);

  /// True once the call that reuses this one's row may have begun.
  [[nodiscard]] bool is_overwritten(std::uint64_t number) const noexcept {
    return number + kept - 1 <= current();
  }

  std::atomic<std::uint64_t> current_{0};
  std::atomic<std::uint64_t> completed_{0};
  std::atomic<std::int32_t> waits_for_{for_none};
  std::atomic<clock::rep> waits_since_{0};
  std::atomic<clock::rep> waits_until_{0};
  std::array<std::array<std::atomic<std::uint64_t>, words>, kept> calls_{};  ///< number n in row n % kept
};

}  // namespace chorale::transport
