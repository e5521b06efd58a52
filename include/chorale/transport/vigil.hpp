// A wait of one rank that is looked after.
#pragma once

#include <chorale/core/attention.hpp>
#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/transport/watched_wait.hpp>

namespace chorale::transport {

class progress_engine;

/// Slow path of a wait: progress, failures that others report, life of the awaited peer and of the others,
/// stall reports, deadline.
class vigil {
 public:
  vigil(progress_engine& engine, int peer, call_id now) noexcept : engine_(&engine), wait_(peer, now) {}
  /// Looks around once; returns how long the wait has lasted, in attended time. @throws error if the wait is
  /// in vain; what a stall handler throws. A program that polls decides itself how long it waits: there is no
  /// deadline.
  clock::duration look(attention how = attention::waits);
  /// The wait is observed from now on; to be called where somebody observes.
  void observe() noexcept;
  /// The wait is for `peer` from now on.
  void expect(int peer) noexcept { wait_.expect(peer); }
  /// The wait is over.
  void end() noexcept {
    if (has_end_) [[unlikely]]
      finish();
  }
  [[nodiscard]] int peer() const noexcept { return wait_.peer(); }
  [[nodiscard]] call_id now() const noexcept { return wait_.call(); }

 private:
  void finish() noexcept;

  progress_engine* engine_;
  bool has_end_ = false;  ///< somebody is to be told when it is over
  bool is_observed_ = false;
  watched_wait wait_;
};

}  // namespace chorale::transport
