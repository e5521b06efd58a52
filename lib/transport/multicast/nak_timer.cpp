// SPDX-License-Identifier: Apache-2.0
#include "nak_timer.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace chorale::transport {
namespace {

/// Shortest interval between NAKs of a rank; all ranks together send at most one per millisecond.
constexpr auto shortest_pause = std::chrono::milliseconds{20};
constexpr auto pause_for_each_rank = std::chrono::milliseconds{1};
/// Upper limit for the first NAK, in multiples of the least patience: most long waits are due to other ranks
/// that are late or have lost a message themselves, and do not show how long a multicast takes.
constexpr int most_patience = 8;

}  // namespace

void nak_timer::end(time_point now) noexcept {
  if (!is_waiting()) return;
  // A wait that ended only after a NAK says nothing about usual waits.
  if (asked_ == 0) {
    const double waited =
        is_timed() ? static_cast<double>(std::chrono::nanoseconds{now - since_}.count()) : 0.0;
    deviation_ += (std::abs(waited - usual_wait_) - deviation_) / 4;
    usual_wait_ += (waited - usual_wait_) / 8;
  }
  waits_known_ = true;
  what_.from = -1;
}

bool nak_timer::asks(time_point now, bool overtaken, bool heard) noexcept {
  if (!is_timed()) {
    since_ = now;
    // A rank that has received nothing at all has joined late, most likely after the message.
    const auto wait = what_.is_message && !heard ? clock::duration{} : patience();
    due_ = now + wait + spread(std::max(wait, least_));
  }
  if (overtaken && !overtaken_) {
    overtaken_ = true;
    due_ = std::min(due_, now + least_ + spread(least_));
  }
  if (now < due_) return false;
  const auto wait = pause();
  ++asked_;
  due_ = now + wait + spread(wait);
  return true;
}

clock::duration nak_timer::patience() const noexcept {
  if (!waits_known_) return most_patience * least_;
  const auto known = std::chrono::nanoseconds{static_cast<std::int64_t>(usual_wait_ + 4 * deviation_)};
  return std::clamp<clock::duration>(known, least_, most_patience * least_);
}

clock::duration nak_timer::pause() const noexcept {
  const auto longest = std::max<clock::duration>(shortest_pause, pause_for_each_rank * ranks_);
  return std::min<clock::duration>(patience() * (2 + static_cast<int>(std::min(asked_, 1000U))),
                                   std::max(longest, least_));
}

clock::duration nak_timer::spread(clock::duration over) noexcept {
  // With two ranks there is only one receiver; with more, each gets a different time, so that most receive
  // the retransmission before they ask.
  const int others = std::min(ranks_ - 2, 16);
  noise_ = noise_ * 6364136223846793005ULL + 1442695040888963407ULL;
  return over * others / 8 * static_cast<int>(noise_ >> 56) / 256;
}

}  // namespace chorale::transport
