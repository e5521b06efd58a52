// SPDX-License-Identifier: Apache-2.0
// Reports a window's operation to observers.
#pragma once

#include <cstddef>
#include <cstdint>

#include <chorale/core/clock.hpp>
#include <chorale/transport/observers/call_record.hpp>

namespace chorale::transport {

/// Spans a one-sided operation. If the communicator has observers, they are told at the end, whether it
/// succeeded or failed; otherwise this costs the test of one bit.
class [[nodiscard]] observed_access {
 public:
  /// The operation: as the kinds of `observed_event` with the same names; including that header would cost
  /// compile time.
  enum class kind : std::uint8_t { put, got, updated, flushed, notified, awaited };

  /// `peer`: -1 for all or any. `bytes`: the size of the put, get or update.
  observed_access(call_record& calls, kind what, int peer, std::size_t bytes = 0) noexcept
      : calls_(calls.is_observed() ? &calls : nullptr), what_(what), peer_(peer), bytes_(bytes) {
    if (calls_ != nullptr) [[unlikely]]
      begin();
  }
  observed_access(const observed_access&) = delete;
  observed_access& operator=(const observed_access&) = delete;
  ~observed_access() {
    if (calls_ != nullptr) [[unlikely]]
      tell();
  }

 private:
  void begin() noexcept;
  void tell() const noexcept;

  call_record* calls_;
  kind what_;
  int peer_;
  std::size_t bytes_;
};

}  // namespace chorale::transport
