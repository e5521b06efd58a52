// What is to be done for a wait that takes long, and when.
#pragma once

#include <utility>

#include <chorale/core/attention.hpp>
#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/transport/failure_detector.hpp>

namespace chorale::transport {

/// A wait for `peer` in call `call`, or for whichever comes if `peer` is negative. It has no clock and no
/// channel: who looks after it, the watchdog, tells it times and facts, and does the steps that it names. Not
/// thread-safe.
class watched_wait {
 public:
  using time_point = clock::time_point;

  watched_wait(int peer, call_id call) noexcept : call_(call) { judged_.peer = peer; }

  [[nodiscard]] int peer() const noexcept { return judged_.peer; }
  [[nodiscard]] call_id call() const noexcept { return call_; }
  /// The wait is for `peer` from now on.
  void expect(int peer) noexcept { judged_.peer = peer; }

  /// It takes long: it is looked after from this time on. `judged`: the failure detector has begun to judge a
  /// wait for `peer()`.
  void begin(time_point time, const failure_detector::wait& judged) noexcept;
  [[nodiscard]] bool has_begun() const noexcept { return begun_; }
  [[nodiscard]] time_point since() const noexcept { return since_; }
  /// Peers that ask are told until then that this rank waits, which looks at this time.
  [[nodiscard]] static time_point shown_until(time_point time, attention how) noexcept;
  /// For the failure detector to judge, for an owner who looks that way.
  [[nodiscard]] failure_detector::wait& judged_by(attention how) noexcept {
    judged_.how = how;
    return judged_;
  }
  [[nodiscard]] const failure_detector::wait& judged() const noexcept { return judged_; }

  /// What is to be done for a wait that goes on, in this order.
  struct steps {
    bool begins_survey = false;  ///< of what the other ranks are doing, for a report
    bool surveys = false;        ///< get on with it, and say by `end_survey` when it is over
    bool probes = false;         ///< ask the awaited peer for a sign of life, and those who owe one
    bool asks_others = false;    ///< ... and one more, that nobody waits for
  };
  /// At this time, after `waited`, in attended time. `stalls`: the failure detector wants it reported.
  [[nodiscard]] steps next(time_point time, clock::duration waited, attention how, bool stalls) noexcept;
  void end_survey() noexcept { surveys_ = false; }

  /// It is over. True if the survey that is under way was for it: nobody needs that any more.
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
