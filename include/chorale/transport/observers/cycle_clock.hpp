// The clock of observed calls.
#pragma once

#include <cstdint>

#include <chorale/core/clock.hpp>
#include <chorale/transport/observers/cycle_scale.hpp>

namespace chorale::transport {

/// The times of `clock`, to some tens of nanoseconds, for less than half of what reading that takes: from the
/// processor's counter where that counts alike on all cores at one rate, which the kernel knows; elsewhere,
/// and where time is simulated, from `clock` itself. One thread at a time.
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
