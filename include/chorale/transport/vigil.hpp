// The slow path of a wait.
#pragma once

#include <chorale/core/attention.hpp>
#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/transport/failure_detector.hpp>

namespace chorale::transport {

class endpoint;

/// Slow path of a wait of one rank: progress, failures that others report, life of the awaited peer and of
/// the others, stall reports, deadline.
class vigil {
 public:
  /// A wait for `peer` in call `now`; for whichever comes if `peer` is negative.
  vigil(endpoint& owner, int peer, epoch now) noexcept : owner_(&owner), peer_(peer), now_(now) {}
  /// Looks around once; returns how long the wait has lasted. @throws error if the wait is in vain; what a
  /// stall handler throws. A program that polls decides itself how long it waits: there is no deadline.
  steady::duration look(attention how = attention::waits);
  /// The wait is for `peer` from now on.
  void expect(int peer) noexcept { peer_ = peer; }
  /// The wait is over.
  void end() noexcept {
    if (begun_) [[unlikely]]
      finish();
  }
  [[nodiscard]] int peer() const noexcept { return peer_; }
  [[nodiscard]] epoch now() const noexcept { return now_; }

 private:
  void begin(steady::time_point now);
  void finish() noexcept;
  void judge(attention how);

  endpoint* owner_;
  int peer_;
  epoch now_;
  bool begun_ = false;
  bool surveys_ = false;  ///< the survey that is under way is for this wait
  steady::time_point since_{};
  steady::time_point next_probe_{};
  failure_detector::wait wait_{};
};

}  // namespace chorale::transport
