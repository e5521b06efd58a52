// How often, and when, a rank that leaves says so.
#pragma once

#include <chrono>

#include <chorale/core/clock.hpp>

namespace chorale::transport {

/// A farewell is not acknowledged, since who would have to acknowledge it may be about to leave as well. A
/// rank that misses it takes this one for silent after a while, and fails for it though it needs nothing of
/// it. So it is said in rounds, the first ones in quick succession, the later ones so far apart that a
/// receive queue which overflows, or a rank that has no core for a moment, does not lose them all. The first
/// round is said to all, since those who have said theirs may still wait for this one's; the later rounds
/// only to those who have not: where all leave at once the first round is often the last. Where a datagram
/// in ten is lost, one rank in 10^10 misses all, where three in ten are, one in 10^5. Not thread-safe.
class farewell_rounds {
 public:
  static constexpr int most = 10;

  [[nodiscard]] bool is_due(clock::time_point now) const noexcept { return rounds_ < most && now >= next_; }
  /// A round was made, to those who listen. Precondition: is_due(now).
  void note(clock::time_point now) noexcept {
    ++rounds_;
    if (rounds_ > quick) pause_ *= 2;
    next_ = now + pause_;
  }
  [[nodiscard]] bool is_first() const noexcept { return rounds_ == 0; }
  [[nodiscard]] bool are_over() const noexcept { return rounds_ == most; }

 private:
  static constexpr int quick = 4;
  int rounds_ = 0;
  clock::duration pause_ = std::chrono::milliseconds{1};
  clock::time_point next_{};
};

}  // namespace chorale::transport
