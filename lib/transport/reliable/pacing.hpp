// How long to wait, and how much to send ahead: both learnt from what comes back.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include <chorale/core/clock.hpp>

#include "sequence.hpp"

namespace chorale::transport::reliable {

/// Smoothed round trip and its deviation (Jacobson's), and the timeout that follows. Not thread-safe.
class round_trip {
 public:
  /// `least`: no timeout is shorter; a rank that shares its core answers only when it has it.
  explicit round_trip(clock::duration least) noexcept : least_(least), smoothed_(2 * least) {}

  /// A packet was answered after `taken`. Not for packets that were sent twice (Karn's rule).
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
  /// Time that a packet may be under way, for who has seen that it is missing. Not more than the least
  /// timeout: what is sent once too often costs less than to wait for a peer that was busy when it was timed.
  [[nodiscard]] clock::duration transit() const noexcept { return std::min(smoothed_, least_) / 2; }
  /// Time after which silence means loss; doubled with each of `failures` in a row. Samples contain the time
  /// that either side was elsewhere, so that they lengthen the first one to a few times the least only.
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

/// Packets that may be under way: grows by one for each window that arrives, is halved by a loss. The
/// receiver has buffers for all, so a loss is seldom one of its making; so many are always sent ahead that
/// those which come show which one did not.
class send_allowance {
 public:
  /// `most`: what the receiver is sure to have buffers for.
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

/// What the sending side of a stream learns from acknowledgements. Not thread-safe.
class pacing {
 public:
  pacing(std::uint32_t most, clock::duration least_timeout) noexcept
      : allowance_(most), trip_(least_timeout) {}

  [[nodiscard]] const round_trip& trip() const noexcept { return trip_; }
  [[nodiscard]] std::uint32_t packets() const noexcept { return allowance_.packets(); }
  /// True if packet `number`, the oldest under way being `oldest`, is to ask for a report: half a window has
  /// gone since one did.
  [[nodiscard]] bool wants_report(sequence number, sequence oldest) const noexcept {
    const std::uint32_t half = (packets() + 1) / 2;
    return number - asked_at_ + 1 >= half && number - oldest + 1 >= half;
  }
  /// That packet has asked, and its answer is timed.
  void on_asked(sequence number, clock::time_point now) noexcept {
    asked_at_ = number;
    asked_when_ = now;
    is_timed_ = true;
  }
  /// Something was sent again: no answer tells the round trip any more.
  void on_resent() noexcept { is_timed_ = false; }
  void on_loss() noexcept { allowance_.on_loss(); }
  /// True if an acknowledgement of all packets before `upto` answers the one that is timed.
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

}  // namespace chorale::transport::reliable
