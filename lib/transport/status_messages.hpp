// What ranks tell each other of their calls. It travels as it lies in memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/transport/status.hpp>

namespace chorale::transport {

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
  status_answer(const status_page& page, std::uint64_t about, clock::time_point now);
  [[nodiscard]] const call* find(std::uint64_t about) const noexcept {
    return known != 0 && about == number ? &asked : nullptr;
  }
};

/// What a rank says of its last calls when it leaves, so that a rank which still waits for it can tell a
/// mismatch from an early end. Small enough for the smallest MTU.
struct farewell {
  static constexpr std::size_t kept = 3;
  std::uint64_t current = 0;       ///< number of its last call
  std::uint64_t by_error = 0;      ///< 1 if it leaves by an error: it was to make more calls, perhaps
  std::array<call, kept> calls{};  ///< call number n in row n % kept; operation::none where there was none

  farewell() = default;
  explicit farewell(const status_page& page, bool by_error = false);
  /// What it would have answered to a question about call `number`.
  [[nodiscard]] status_answer about(std::uint64_t number) const noexcept;
  /// How the calls of the rank that says this and those of another one do not match, "here" and "there", as
  /// far as both tell; nothing if they match. Where one leaves by an error their numbers need not.
  [[nodiscard]] std::optional<std::string> difference(const farewell& there) const;
};

}  // namespace chorale::transport
