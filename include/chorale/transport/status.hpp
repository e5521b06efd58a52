// What a rank tells others about itself when somebody waits for it in vain.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/core/lean_chrono.hpp>

namespace chorale::transport {

/// A rank's status: which call it is in, which it made before, and for whom it waits. Its own thread writes
/// it, at the cost of plain stores; the service thread reads it to answer for a rank that is elsewhere.
class status_page {
 public:
  static constexpr std::size_t kept = 8;
  /// Where the rank waits for no one, and where it waits for any rank.
  static constexpr std::int32_t for_none = -2;
  static constexpr std::int32_t for_any = -1;

  [[gnu::always_inline]] void begin(std::uint64_t number, const call& c) noexcept {
    // Each by itself, or what is in memory would be copied before it is stored.
    const auto word = [&c](std::size_t i) {
      std::uint64_t text;
      std::memcpy(&text, reinterpret_cast<const std::byte*>(&c) + i * sizeof text, sizeof text);
      return text;
    };
    // Released, so that a reader that sees a word of this call sees as well that the call before has begun.
    // No loop, which GCC 12 keeps at -O2: what is constant in a call is then stored as constants.
    static_assert(words == 4);
    auto& row = calls_[number % kept];
    row[0].store(word(0), std::memory_order_release);
    row[1].store(word(1), std::memory_order_release);
    row[2].store(word(2), std::memory_order_release);
    row[3].store(word(3), std::memory_order_release);
    current_.store(number, std::memory_order_release);
  }
  void complete(std::uint64_t number) noexcept { completed_.store(number, std::memory_order_relaxed); }
  /// Unless it says so again, the rank does not wait any more at the time `until`.
  void note_wait(std::int32_t peer, clock::time_point since, clock::time_point until) noexcept {
    waits_since_.store(since.time_since_epoch().count(), std::memory_order_relaxed);
    waits_until_.store(until.time_since_epoch().count(), std::memory_order_relaxed);
    waits_for_.store(peer, std::memory_order_relaxed);
  }
  void end_wait() noexcept { waits_for_.store(for_none, std::memory_order_relaxed); }

  /// Number of the call it is in, or was in last; of its last completed call.
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
  /// The call of that number, if it is known yet and still.
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

  /// True once the call that takes the row of this one may have begun.
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
