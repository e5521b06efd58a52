// SPDX-License-Identifier: Apache-2.0
// The clock used for observed calls.
#pragma once

#include <cstdint>

#include <chorale/core/clock.hpp>
#include <chorale/transport/observers/cycle_scale.hpp>

namespace chorale::transport {

/// The time of `clock`, to some tens of nanoseconds, at less than half the cost: from the processor's cycle
/// counter, if the kernel says that it runs at one constant rate on all cores; otherwise, and in simulated
/// time, from `clock` itself. One thread at a time.
class cycle_clock {
 public:
  [[nodiscard]] clock::time_point now() noexcept {
    const std::uint64_t count = cycles();
    if (!scale_.reaches(count) || clock::is_replaced()) [[unlikely]]
      return read();
    return scale_.at(count);
  }

 private:
  [[nodiscard]] static std::uint64_t cycles() noexcept {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return 0;
#endif
  }
  [[nodiscard]] clock::time_point read() noexcept;

  cycle_scale scale_;
};

}  // namespace chorale::transport
