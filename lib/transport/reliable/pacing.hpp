// SPDX-License-Identifier: Apache-2.0
// Adapts timeouts and the send window to the acknowledgements.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include <chorale/core/clock.hpp>

#include "../wire/sequence.hpp"

namespace chorale::transport::reliable {

/// Smoothed round-trip time and deviation (Jacobson), and the resulting timeout. Not thread-safe.
class round_trip {
 public:
  /// `least`: lower bound of timeouts; a rank that shares its core answers only when it is scheduled.
  explicit round_trip(clock::duration least) noexcept : least_(least), smoothed_(2 * least) {}

  /// A packet was answered after `taken`. Do not sample retransmitted packets (Karn's rule).
  void sample(clock::duration taken) noexcept {
    if (first_) {
      first_ = false;
      smoothed_ = taken;
      deviation_ = taken / 2;
      return;
    }
    const auto error = taken - smoothed_;
    smoothed_ += error / 8;
    deviation_ += ((error < clock::duration::zero() ? -error : error) - deviation_) / 4;
  }
  /// Estimated time in flight, for ranks that have noticed a missing packet. At most half of the least
  /// timeout: an unnecessary retransmission costs less than waiting too long because the peer was busy during
  /// a sample.
  [[nodiscard]] clock::duration transit() const noexcept { return std::min(smoothed_, least_) / 2; }
  /// Time after which silence means loss; doubled for each of `failures` in a row. Samples include time in
  /// which a side did not poll, so they may lengthen the first timeout only to a few times the least.
  [[nodiscard]] clock::duration timeout(unsigned failures = 0) const noexcept {
    const auto once = std::clamp<clock::duration>(smoothed_ + 4 * deviation_, least_, longest_first * least_);
    return std::min<clock::duration>(once * (1U << std::min(failures, 8U)), longest);
  }

  static constexpr std::chrono::milliseconds longest{64};
  static constexpr int longest_first = 4;

 private:
  clock::duration least_;
  clock::duration smoothed_;
  clock::duration deviation_{};
  bool first_ = true;
};

/// The congestion window in packets: grows by one for each window that arrives, and is halved by a loss. The
/// receiver has buffers for all packets, so losses are rarely caused by overrunning it; the window never
/// becomes so small that later packets could not reveal a missing one.
class send_allowance {
 public:
  /// `most`: the number of packets for which the receiver certainly has buffers.
  explicit send_allowance(std::uint32_t most) noexcept : most_(most), now_(most) {}

  [[nodiscard]] std::uint32_t packets() const noexcept { return now_; }
  void on_arrival(std::uint32_t packets) noexcept {
    if (now_ == most_) return;
    arrived_ += packets;
    if (arrived_ < now_) return;
    arrived_ = 0;
    ++now_;
  }
  void on_loss() noexcept {
    now_ = std::max(std::min(least, most_), now_ / 2);
    arrived_ = 0;
  }

 private:
  static constexpr std::uint32_t least = 8;
  std::uint32_t most_;
  std::uint32_t now_;
  std::uint32_t arrived_ = 0;
};

/// Timing and window of the sending side of a stream, adapted to acknowledgements. Not thread-safe.
class pacing {
 public:
  pacing(std::uint32_t most, clock::duration least_timeout) noexcept
      : allowance_(most), trip_(least_timeout) {}

  [[nodiscard]] const round_trip& trip() const noexcept { return trip_; }
  [[nodiscard]] std::uint32_t packets() const noexcept { return allowance_.packets(); }
  /// True if packet `number` should request a report, `oldest` being the oldest one in flight: half a window
  /// has been sent since the last request.
  [[nodiscard]] bool wants_report(sequence number, sequence oldest) const noexcept {
    const std::uint32_t half = (packets() + 1) / 2;
    return number - asked_at_ + 1 >= half && number - oldest + 1 >= half;
  }
  /// Packet `number` has requested a report, whose answer is timed.
  void on_asked(sequence number, clock::time_point now) noexcept {
    asked_at_ = number;
    asked_when_ = now;
    is_timed_ = true;
  }
  /// After a retransmission, answers do not measure the round trip.
  void on_resent() noexcept { is_timed_ = false; }
  void on_loss() noexcept { allowance_.on_loss(); }
  /// True if an acknowledgement of all packets before `upto` answers the timed packet.
  [[nodiscard]] bool is_timed(sequence upto) const noexcept {
    return is_timed_ && distance(asked_at_, upto) > 0;
  }
  void sample(clock::time_point now) noexcept {
    trip_.sample(now - asked_when_);
    is_timed_ = false;
  }
  void on_arrival(std::uint32_t packets) noexcept { allowance_.on_arrival(packets); }

 private:
  send_allowance allowance_;
  round_trip trip_;
  sequence asked_at_ = first_sequence;
  bool is_timed_ = false;
  clock::time_point asked_when_{};
};

/// Says when a waiting rank requests missing data: after a timeout, which doubles with each unsuccessful
/// request. A rank that has not called `continue_at` for `longest_pause`, since it was itself stopped or
/// busy, goes on with the shortest timeout; but what was due stays due, so that one that only polls from time
/// to time also asks. Not thread-safe.
class retry_timer {
 public:
  static constexpr std::chrono::milliseconds longest_pause{500};

  /// The wait goes on at time `now`. False if it has just begun.
  bool continue_at(clock::time_point now, const round_trip& trip) noexcept {
    const bool goes_on = runs_;
    if (!goes_on) {
      start(now, trip);
    } else if (now - last_call_ >= longest_pause) {
      failures_ = 0;
      next_ = std::min(next_, now + trip.timeout());
    }
    last_call_ = now;
    return goes_on;
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
