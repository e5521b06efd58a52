// Times from a counter of cycles, which is read in a fraction of what the system's clock takes.
#pragma once

#include <cstdint>

#include <chorale/core/clock.hpp>

namespace chorale::transport {

/// Converts counts of cycles to times of `clock`, after readings of both. Between two readings it goes on at
/// the rate that the last two have shown, for as long as these were apart, at most 2^24 cycles; then it asks
/// for the next one. So an error of a reading is not multiplied, and a clock that the system steers is
/// followed. Times never go back unless the counter does: what was ahead of a reading waits for it by running
/// slower.
class cycle_scale {
 public:
  /// Both, read at once.
  struct reading {
    std::uint64_t cycles = 0;
    clock::time_point time{};
  };

  /// Whether the time of `cycles` is known without another reading.
  [[nodiscard]] bool reaches(std::uint64_t cycles) const noexcept { return cycles - from_ < span_; }
  /// Precondition: reaches(cycles).
  [[nodiscard]] clock::time_point at(std::uint64_t cycles) const noexcept { return after(cycles - from_); }
  /// Goes on from `now`. Returns its time, which is later than that of the clock if one of those was given.
  clock::time_point add(const reading& now) noexcept;

 private:
  /// No shorter interval tells a rate: 2^20 cycles are a few hundred microseconds.
  static constexpr std::uint64_t shortest = std::uint64_t{1} << 20;
  /// Some milliseconds: the system steers its clock by less than 500 ns in each.
  static constexpr std::uint64_t longest = std::uint64_t{1} << 24;
  static constexpr unsigned point = 32;  ///< bits of `slope_` behind the binary point

  [[nodiscard]] clock::time_point after(std::uint64_t cycles) const noexcept {
    return shown_ + clock::duration{static_cast<clock::rep>((cycles * slope_) >> point)};
  }
  /// What was measured is of no use: measures from `now` on.
  void begin_anew(const reading& now) noexcept;

  std::uint64_t from_ = 0;     ///< cycles at the time `shown_`
  std::uint64_t span_ = 0;     ///< how far from there times are known; 0: not at all
  std::uint64_t slope_ = 0;    ///< nanoseconds a cycle
  clock::time_point shown_{};  ///< later than what was given before
  reading last_;               ///< from which the rate is measured
  double rate_ = 0;            ///< nanoseconds a cycle, as measured; 0: not yet
};

}  // namespace chorale::transport
