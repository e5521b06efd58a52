// When a question that is not answered is asked again.
#pragma once

#include <chrono>

#include <chorale/core/clock.hpp>

namespace chorale::transport {

/// Questions among ranks and their answers may be lost, so that both are repeated. Not thread-safe.
class repeated_question {
 public:
  /// True if it is to be asked at this time: at once, and then every 40 ms.
  [[nodiscard]] bool is_due(clock::time_point time) noexcept {
    if (time < next_) return false;
    next_ = time + interval;
    return true;
  }
  /// Another one begins.
  void restart() noexcept { next_ = {}; }

 private:
  static constexpr auto interval = std::chrono::milliseconds{40};
  clock::time_point next_{};
};

}  // namespace chorale::transport
