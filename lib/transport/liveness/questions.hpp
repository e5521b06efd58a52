// SPDX-License-Identifier: Apache-2.0
// When to repeat an unanswered question.
#pragma once

#include <chrono>

#include <chorale/core/clock.hpp>

namespace chorale::transport {

/// Questions between ranks and their answers may be lost, so they are repeated. Not thread-safe.
class repeated_question {
 public:
  /// True if the question is due: at once, and then every 40 ms.
  [[nodiscard]] bool is_due(clock::time_point time) noexcept {
    if (time < next_) return false;
    next_ = time + interval;
    return true;
  }
  /// Starts over for another question.
  void restart() noexcept { next_ = {}; }

 private:
  static constexpr auto interval = std::chrono::milliseconds{40};
  clock::time_point next_{};
};

}  // namespace chorale::transport
