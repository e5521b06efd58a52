// SPDX-License-Identifier: Apache-2.0
// Messages about calls between ranks, sent as raw bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/transport/status/status.hpp>

namespace chorale::transport {

/// Answers a question about the call of one number: small enough for the smallest MTU.
struct status_answer {
  std::uint64_t current = 0;    ///< number of its current or last call
  std::uint64_t completed = 0;  ///< number of its last completed call
  std::uint64_t number = 0;     ///< number of the call in question
  std::uint64_t known = 0;      ///< 1 if `asked` is that call
  std::int64_t waited_ms = 0;   ///< duration of its current wait
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

/// A leaving rank's last calls, so that a rank that still waits for it can distinguish a mismatch from an
/// early end. Small enough for the smallest MTU.
struct farewell {
  static constexpr std::size_t kept = 3;
  std::uint64_t current = 0;       ///< number of its last call
  std::uint64_t by_error = 0;      ///< 1 if it leaves because of an error: it might have made more calls
  std::array<call, kept> calls{};  ///< call number n in row n % kept; operation::none if there was none

  farewell() = default;
  explicit farewell(const status_page& page, bool by_error = false);
  /// The sender's answer to a question about call `number`.
  [[nodiscard]] status_answer about(std::uint64_t number) const noexcept;
  /// How the calls of the sender ("here") and of another rank ("there") differ, as far as both are known;
  /// nothing if they match. If one leaves because of an error, their numbers may differ.
  [[nodiscard]] std::optional<std::string> difference(const farewell& there) const;
};

}  // namespace chorale::transport
