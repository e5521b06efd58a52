// SPDX-License-Identifier: Apache-2.0
#include <chorale/transport/observers/cycle_clock.hpp>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "../../core/system_files.hpp"

namespace chorale::transport {
namespace {

bool counter_is_steady() noexcept {
#if defined(__x86_64__)
  // "Invariant TSC": neither frequency changes nor sleep states of a core change its rate.
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  if (__get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) == 0 || (edx & 1U << 8) == 0) return false;
  try {
    // The kernel uses it only if all cores agree.
    return detail::word_of_system("/sys/devices/system/clocksource/clocksource0/current_clocksource") ==
           "tsc";
  } catch (...) {
    return false;
  }
#else
  return false;
#endif
}

/// Nanoseconds per cycle of the slowest usable counter: `slope_` and a span then fit into 64 bits.
constexpr double slowest = 4;
/// Maximum relative change of the rate. The system adjusts its clock by less than half of that; a counter
/// that changes by more, as when a virtual machine migrates, is measured again.
constexpr double steady = 0.001;

}  // namespace

clock::time_point cycle_clock::read() noexcept {
  static const bool is_steady = counter_is_steady();
  if (!is_steady || clock::is_replaced()) return clock::now();
  // The tightest of several pairs: the thread may lose its core between the two readings of one.
  cycle_scale::reading best;
  std::uint64_t width = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < 6; ++i) {
    const std::uint64_t before = cycles();
    const clock::time_point time = clock::now();
    const std::uint64_t between = cycles() - before;
    if (between >= width) continue;
    width = between;
    best = {before + between / 2, time};
  }
  return scale_.add(best);
}

clock::time_point cycle_scale::add(const reading& now) noexcept {
  const std::uint64_t since = now.cycles - from_;
  // No later time was returned.
  shown_ = std::max(now.time, after(std::min(since, span_)));
  from_ = now.cycles;
  span_ = 0;
  const std::uint64_t cycles = now.cycles - last_.cycles;
  const double time = static_cast<double>((now.time - last_.time).count());
  if (last_.time == clock::time_point{} || now.cycles < last_.cycles) {
    begin_anew(now);
    return shown_;
  }
  if (cycles < shortest) return shown_;
  const double rate = time / static_cast<double>(cycles);
  if (!(rate > 0 && rate < slowest) || (rate_ != 0 && std::abs(rate / rate_ - 1) > steady)) {
    begin_anew(now);
    return shown_;
  }
  rate_ = rate;
  last_ = now;
  const std::uint64_t span = std::min(cycles, longest);
  const double ahead = static_cast<double>((shown_ - now.time).count());
  const double slope = rate - ahead / static_cast<double>(span);
  if (slope < rate / 2) return shown_;
  slope_ = static_cast<std::uint64_t>(std::ldexp(slope, point));
  span_ = span;
  return shown_;
}

void cycle_scale::begin_anew(const reading& now) noexcept {
  last_ = now;
  rate_ = 0;
}

}  // namespace chorale::transport
