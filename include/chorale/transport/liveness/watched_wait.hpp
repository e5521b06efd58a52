// SPDX-License-Identifier: Apache-2.0
// Decides what to do for a long wait, and when.
#pragma once

#include <utility>

#include <chorale/core/attention.hpp>
#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/transport/liveness/failure_detector.hpp>

namespace chorale::transport {

/// A wait for `peer` in call `call`, or for any peer if `peer` is negative. Sans-I/O: its owner, the
/// watchdog, passes times and facts, and performs the steps that it names. Not thread-safe.
class watched_wait {
 public:
  using time_point = clock::time_point;

  watched_wait(int peer, call_id call) noexcept : call_(call) { judged_.peer = peer; }

  [[nodiscard]] int peer() const noexcept { return judged_.peer; }
  [[nodiscard]] call_id call() const noexcept { return call_; }
  /// Changes the awaited peer.
  void expect(int peer) noexcept { judged_.peer = peer; }

  /// The wait is long: the slow path begins at this time. `judged`: the failure detector's record of this
  /// wait for `peer()`.
  void begin(time_point time, const failure_detector::wait& judged) noexcept;
  [[nodiscard]] bool has_begun() const noexcept { return begun_; }
  [[nodiscard]] time_point since() const noexcept { return since_; }
  /// Time until which peers that ask are told that this rank waits, after a check of the wait at `time`.
  [[nodiscard]] static time_point shown_until(time_point time, attention how) noexcept;
  /// The record for the failure detector to judge, with this kind of attention.
  [[nodiscard]] failure_detector::wait& judged_by(attention how) noexcept {
    judged_.how = how;
    return judged_;
  }
  [[nodiscard]] const failure_detector::wait& judged() const noexcept { return judged_; }

  /// Steps to perform for a wait that continues, in this order.
  struct steps {
    bool begins_survey = false;  ///< start asking what the other ranks are doing, for a report
    bool surveys = false;        ///< continue that survey, and call `end_survey` when it is complete
    bool probes = false;         ///< ask the awaited peer, and those that owe an answer, for a sign of life
    bool asks_others = false;    ///< ... and one more rank, which is not awaited
  };
  /// Steps at `time`, after `waited` of attended time. `stalls`: the failure detector requests a report.
  [[nodiscard]] steps next(time_point time, clock::duration waited, attention how, bool stalls) noexcept;
  void end_survey() noexcept { surveys_ = false; }

  /// Ends the wait. True if a survey for it is in progress, which is no longer needed.
  [[nodiscard]] bool end() noexcept {
    begun_ = false;
    return std::exchange(surveys_, false);
  }

 private:
  call_id call_;
  bool begun_ = false;
  bool surveys_ = false;
  time_point since_{};
  time_point next_probe_{};
  failure_detector::wait judged_{};
};

}  // namespace chorale::transport
