// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <chorale/transport/observers/cycle_scale.hpp>

namespace chorale::transport {
namespace {

/// Nanoseconds per cycle of the slowest usable counter: `slope_` and a span then fit into 64 bits.
constexpr double slowest = 4;
/// Maximum relative change of the rate. The system adjusts its clock by less than half of that; a counter
/// that changes by more, as when a virtual machine migrates, is measured again.
constexpr double steady = 0.001;

}  // namespace

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
