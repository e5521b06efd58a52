// SPDX-License-Identifier: Apache-2.0
// The clock used for observed calls.
#pragma once

#include <cstdint>

#include <chorale/core/clock.hpp>

namespace chorale::transport {

/// Converts cycle counts to times of `clock`, calibrated by simultaneous readings of both. Between two
/// readings it extrapolates at the rate between the last two readings, for at most the time between them and
/// at most 2^24 cycles; then it requests the next one. Thus the error of a reading is not amplified, and the
/// system's adjustments of its clock are followed. Times never go back unless the counter does: a time ahead
/// of a reading runs slower until the reading catches up.
class cycle_scale {
 public:
  /// Both clocks, read simultaneously.
  struct reading {
    std::uint64_t cycles = 0;
    clock::time_point time{};
  };

  /// Whether the time of `cycles` can be computed without another reading.
  [[nodiscard]] bool reaches(std::uint64_t cycles) const noexcept { return cycles - from_ < span_; }
  /// Precondition: reaches(cycles).
  [[nodiscard]] clock::time_point at(std::uint64_t cycles) const noexcept { return after(cycles - from_); }
  /// Continues from `now`. Returns its time, which is later than the clock's if a later one was returned
  /// before.
  clock::time_point add(const reading& now) noexcept;

 private:
  /// Shorter intervals do not determine a rate: 2^20 cycles are a few hundred microseconds.
  static constexpr std::uint64_t shortest = std::uint64_t{1} << 20;
  /// Some milliseconds: in that time the system adjusts its clock by less than 500 ns.
  static constexpr std::uint64_t longest = std::uint64_t{1} << 24;
  static constexpr unsigned point = 32;  ///< fraction bits of `slope_`

  [[nodiscard]] clock::time_point after(std::uint64_t cycles) const noexcept {
    return shown_ + clock::duration{static_cast<clock::rep>((cycles * slope_) >> point)};
  }
  /// Discards previous measurements and starts at `now`.
  void begin_anew(const reading& now) noexcept;

  std::uint64_t from_ = 0;     ///< cycles at the time `shown_`
  std::uint64_t span_ = 0;     ///< cycles from there for which times are known; 0: none
  std::uint64_t slope_ = 0;    ///< nanoseconds per cycle
  clock::time_point shown_{};  ///< not earlier than any returned time
  reading last_;               ///< start of the rate measurement
  double rate_ = 0;            ///< measured nanoseconds per cycle; 0: not yet known
};

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
