// What a rank tells others about itself when somebody waits for it in vain.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>

namespace chorale::transport {

/// A rank's status: which call it is in, which it made before, and for whom it waits.
struct status_page {
  static constexpr std::size_t kept = 8;

  std::uint64_t current = 0;    ///< number of the call it is in, or was in last
  std::uint64_t completed = 0;  ///< number of its last completed call
  std::int32_t waiting_for = -1;
  std::array<call, kept> calls{};  ///< call number n in row n % kept

  void begin(std::uint64_t number, const call& c) noexcept {
    calls[number % kept] = c;
    current = number;
  }
  /// The call of that number, if it is known yet and still.
  [[nodiscard]] const call* find(std::uint64_t number) const noexcept {
    if (number == 0 || number > current || number + kept <= current) return nullptr;
    return &calls[number % kept];
  }
};

/// What a rank answers when it is asked about the call of one number: small enough for the smallest MTU.
struct status_answer {
  std::uint64_t current = 0;  ///< number of the call it is in, or was in last
  std::uint64_t number = 0;   ///< of the call it was asked about
  std::uint64_t known = 0;    ///< 1 if `asked` is that call
  call asked{};

  status_answer() = default;
  status_answer(const status_page& page, std::uint64_t about) : current(page.current), number(about) {
    if (const call* c = page.find(about)) {
      known = 1;
      asked = *c;
    }
  }
  [[nodiscard]] const call* find(std::uint64_t about) const noexcept {
    return known != 0 && about == number ? &asked : nullptr;
  }
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
