// SPDX-License-Identifier: Apache-2.0
#include <chorale/transport/observers/cycle_clock.hpp>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

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

}  // namespace chorale::transport
