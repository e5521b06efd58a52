// What a rank tells others about itself when somebody waits for it in vain.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

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

  void begin(std::uint64_t number, const call& c) noexcept {
    std::array<std::uint64_t, words> text;
    std::memcpy(text.data(), &c, sizeof c);
    // Released, so that a reader that sees a word of this call sees as well that the call before has begun.
    // No loop, which GCC 12 keeps at -O2: what is constant in a call is then stored as constants.
    static_assert(words == 4);
    auto& row = calls_[number % kept];
    row[0].store(text[0], std::memory_order_release);
    row[1].store(text[1], std::memory_order_release);
    row[2].store(text[2], std::memory_order_release);
    row[3].store(text[3], std::memory_order_release);
    current_.store(number, std::memory_order_release);
  }
  void complete(std::uint64_t number) noexcept { completed_.store(number, std::memory_order_relaxed); }
  /// Unless it says so again, the rank does not wait any more at the time `until`.
  void note_wait(std::int32_t peer, steady::time_point since, steady::time_point until) noexcept {
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
  [[nodiscard]] std::int32_t waits_for(steady::time_point now) const noexcept {
    const bool over = now.time_since_epoch().count() > waits_until_.load(std::memory_order_relaxed);
    return over ? for_none : waits_for_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::chrono::milliseconds waited(steady::time_point now) const noexcept {
    const steady::time_point since{steady::duration{waits_since_.load(std::memory_order_relaxed)}};
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
  std::atomic<steady::rep> waits_since_{0};
  std::atomic<steady::rep> waits_until_{0};
  std::array<std::array<std::atomic<std::uint64_t>, words>, kept> calls_{};  ///< number n in row n % kept
};

/// What a rank answers when it is asked about the call of one number: small enough for the smallest MTU.
struct status_answer {
  std::uint64_t current = 0;    ///< number of the call it is in, or was in last
  std::uint64_t completed = 0;  ///< number of its last completed call
  std::uint64_t number = 0;     ///< of the call it was asked about
  std::uint64_t known = 0;      ///< 1 if `asked` is that call
  std::int64_t waited_ms = 0;   ///< how long it has waited
  std::int32_t waits_for = status_page::for_none;
  std::uint32_t latest_known = 0;  ///< 1 if `latest` is the call of number `current`
  call asked{};
  call latest{};

  status_answer() = default;
  status_answer(const status_page& page, std::uint64_t about)
      : current(page.current()), completed(page.completed()), number(about) {
    if (const auto c = page.find(about)) {
      known = 1;
      asked = *c;
    }
    if (const auto c = page.find(current)) {
      latest_known = 1;
      latest = *c;
    }
    const auto now = steady::now();
    waits_for = page.waits_for(now);
    if (waits_for != status_page::for_none) waited_ms = page.waited(now).count();
  }
  [[nodiscard]] const call* find(std::uint64_t about) const noexcept {
    return known != 0 && about == number ? &asked : nullptr;
  }
};

/// What a rank says of its last calls when it leaves, so that who still waits for it can tell a mismatch from
/// an early end. Small enough for the smallest MTU.
struct farewell {
  static constexpr std::size_t kept = 3;
  std::uint64_t current = 0;       ///< number of its last call
  std::array<call, kept> calls{};  ///< call number n in row n % kept; operation::none where there was none

  farewell() = default;
  explicit farewell(const status_page& page) : current(page.current()) {
    for (std::size_t back = 0; back < kept && back < current; ++back)
      if (const auto c = page.find(current - back)) calls[(current - back) % kept] = *c;
  }
  /// What it would have answered to a question about call `number`.
  [[nodiscard]] status_answer about(std::uint64_t number) const noexcept {
    status_answer told;
    told.current = current;
    told.completed = current;
    told.number = number;
    if (number > current || number + kept <= current || calls[number % kept].what == operation::none)
      return told;
    told.known = 1;
    told.asked = calls[number % kept];
    return told;
  }
  /// How the calls of the rank that says this and those of another one do not match, "here" and "there", as
  /// far as both tell; nothing if they match.
  [[nodiscard]] std::optional<std::string> difference(const farewell& there) const;
};

/// What a rank has seen of a peer that may be a mismatch and may be over at the next look.
struct doubts {
  /// A message of call `call`, as far as 32 bits tell, that was seen in call `now`.
  struct stray_message {
    int peer = -1;
    std::uint32_t call = 0;
    std::uint64_t now = 0;
    bool operator==(const stray_message&) const = default;
  };
  /// A peer that has gone on from call `now`, in which this rank waits for it: since when, and how often it
  /// has said so.
  struct overdue_peer {
    int peer = -1;
    std::uint64_t now = 0;
    unsigned answers = 0;
    steady::time_point since{};
  };
  stray_message stray;
  overdue_peer overdue;
};

}  // namespace chorale::transport
