// SPDX-License-Identifier: Apache-2.0
// How often, and when, a leaving rank sends its farewell.
#pragma once

#include <chrono>

#include <chorale/core/clock.hpp>

namespace chorale::transport {

/// Farewells are not acknowledged, since the peer may be leaving as well. A rank that misses one considers
/// this rank silent after a while, and a wait for it fails late, without the reason. So farewells are sent in
/// rounds, the first in quick succession, the later ones far enough apart that an overflowing receive queue,
/// or a peer without a core for a moment, does not lose them all. The first round goes to the whole audience
/// (`farewell_audience`), since those that have sent a farewell may still wait for one from this rank; later
/// rounds go only to ranks that have not sent theirs. If all ranks leave at once, the first round is often
/// the last. If one datagram in ten is lost, one rank in 10^10 misses all rounds; if three in ten are, one in
/// 10^5. Not thread-safe.
class farewell_rounds {
 public:
  static constexpr int most = 10;

  [[nodiscard]] bool is_due(clock::time_point now) const noexcept { return rounds_ < most && now >= next_; }
  /// A round was sent to the ranks that still read datagrams. Precondition: is_due(now).
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
