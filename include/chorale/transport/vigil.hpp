// A wait of one rank that is looked after.
#pragma once

#include <chorale/core/attention.hpp>
#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/transport/failure_detector.hpp>

namespace chorale::transport {

class progress_engine;

/// A wait for `peer` in call `now`, or for whichever comes if `peer` is negative: what its slow path knows of
/// it.
struct watched_wait {
  int peer = -1;
  call_id now;
  bool begun = false;
  bool surveys = false;  ///< the survey that is under way is for this wait
  clock::time_point since{};
  clock::time_point next_probe{};
  failure_detector::wait judged{};
};

/// Slow path of a wait: progress, failures that others report, life of the awaited peer and of the others,
/// stall reports, deadline.
class vigil {
 public:
  vigil(progress_engine& engine, int peer, call_id now) noexcept : engine_(&engine), wait_{peer, now} {}
  /// Looks around once; returns how long the wait has lasted, in attended time. @throws error if the wait is
  /// in vain; what a stall handler throws. A program that polls decides itself how long it waits: there is no
  /// deadline.
  clock::duration look(attention how = attention::waits);
  /// The wait is for `peer` from now on.
  void expect(int peer) noexcept { wait_.peer = peer; }
  /// The wait is over.
  void end() noexcept {
    if (wait_.begun) [[unlikely]]
      finish();
  }
  [[nodiscard]] int peer() const noexcept { return wait_.peer; }
  [[nodiscard]] call_id now() const noexcept { return wait_.now; }

 private:
  void finish() noexcept;

  progress_engine* engine_;
  watched_wait wait_;
};

}  // namespace chorale::transport
