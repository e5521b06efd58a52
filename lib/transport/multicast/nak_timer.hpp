// SPDX-License-Identifier: Apache-2.0
// When a rank that waits for a multicast requests its retransmission.
#pragma once

#include <cstdint>

#include <chorale/core/clock.hpp>

namespace chorale::transport {

/// A rank sends a NAK once it has waited longer than usual (the mean of its waits so far plus four mean
/// deviations), and waits longer before each further NAK, since the usual cause of a long wait is a rank that
/// is late. A random time is added to both, so that if many ranks miss one multicast, most receive the
/// retransmission before they ask. Sans-I/O: times in, decisions out. Not thread-safe.
class nak_timer {
 public:
  using time_point = clock::time_point;
  struct awaited {
    int from = -1;
    bool is_message = false;
    std::uint64_t what = 0;  ///< signal word or sequence number
    friend bool operator==(const awaited&, const awaited&) = default;
  };

  /// `patience`: shortest time until the first NAK. `seed`: different on each rank.
  nak_timer(int ranks, clock::duration patience, std::uint64_t seed) noexcept
      : ranks_(ranks), least_(patience), noise_(seed) {}

  /// Starts a wait for `what` alone; no effect if it is already awaited. Time counts from the next `asks`.
  void expect(const awaited& what) noexcept {
    if (what_ == what) return;
    what_ = what;
    since_ = due_ = {};
    asked_ = 0;
    overtaken_ = false;
  }
  [[nodiscard]] bool is_waiting() const noexcept { return what_.from >= 0; }
  [[nodiscard]] const awaited& what() const noexcept { return what_; }
  /// True if `end` needs the time.
  [[nodiscard]] bool is_timed() const noexcept { return since_ != time_point{}; }
  /// The awaited multicast has arrived.
  void end(time_point now) noexcept;

  /// True if a NAK is due, which the caller then sends; this schedules the next one. `overtaken`: a later
  /// multicast of the same sender has arrived. `heard`: this rank has received any multicast at all.
  [[nodiscard]] bool asks(time_point now, bool overtaken, bool heard) noexcept;

 private:
  [[nodiscard]] clock::duration patience() const noexcept;  ///< until the first NAK
  [[nodiscard]] clock::duration pause() const noexcept;     ///< until the next
  [[nodiscard]] clock::duration spread(clock::duration over) noexcept;

  int ranks_;
  clock::duration least_;
  std::uint64_t noise_;
  awaited what_;
  time_point since_{};
  time_point due_{};
  unsigned asked_ = 0;
  bool overtaken_ = false;
  double usual_wait_ = 0;  ///< nanoseconds; smoothed, as is its mean deviation
  double deviation_ = 0;
  bool waits_known_ = false;
};

}  // namespace chorale::transport
