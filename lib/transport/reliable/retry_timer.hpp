// SPDX-License-Identifier: Apache-2.0
// When a waiting rank repeats its request.
#pragma once

#include <chrono>

#include <chorale/core/clock.hpp>

#include "pacing.hpp"

namespace chorale::transport::reliable {

/// Says when a waiting rank requests missing data: after a timeout, which doubles with each unsuccessful
/// request. A rank that has not called `continue_at` for `longest_pause` starts over, since it was itself
/// stopped or busy. Not thread-safe.
class retry_timer {
 public:
  static constexpr std::chrono::milliseconds longest_pause{500};

  /// The wait goes on at time `now`. False if the wait has just begun.
  bool continue_at(clock::time_point now, const round_trip& trip) noexcept {
    const bool continues = runs_ && now - last_call_ < longest_pause;
    last_call_ = now;
    if (!continues) start(now, trip);
    return continues;
  }
  void start(clock::time_point now, const round_trip& trip) noexcept {
    runs_ = true;
    failures_ = 0;
    next_ = now + trip.timeout();
  }
  [[nodiscard]] bool runs() const noexcept { return runs_; }
  [[nodiscard]] bool is_due(clock::time_point now) const noexcept { return now >= next_; }
  /// Call after asking.
  void repeat(clock::time_point now, const round_trip& trip) noexcept {
    next_ = now + trip.timeout(++failures_);
  }
  /// Data has arrived: resets the timeout.
  void forget_failures() noexcept { failures_ = 0; }
  /// Ends the wait.
  void stop() noexcept { runs_ = false; }

 private:
  bool runs_ = false;
  unsigned failures_ = 0;
  clock::time_point next_{};
  clock::time_point last_call_{};
};

}  // namespace chorale::transport::reliable
