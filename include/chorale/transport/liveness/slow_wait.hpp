// SPDX-License-Identifier: Apache-2.0
// The slow path of a rank's wait.
#pragma once

#include <chorale/core/attention.hpp>
#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/transport/liveness/watched_wait.hpp>

namespace chorale::transport {

class progress_engine;

/// Slow path of a wait: progress, failures reported by others, liveness of the awaited peer and of others,
/// stall reports, deadline.
class slow_wait {
 public:
  slow_wait(progress_engine& engine, int peer, call_id now) noexcept : engine_(&engine), wait_(peer, now) {}
  /// Checks once; returns the duration of the wait in attended time. @throws error if waiting is futile;
  /// exceptions of a stall handler. With `attention::polls` there is no deadline: a program that polls
  /// decides how long it waits.
  clock::duration check(attention how = attention::waits);
  /// Reports the wait to observers from now on; call it if there are observers.
  void observe() noexcept;
  /// Changes the awaited peer.
  void expect(int peer) noexcept { wait_.expect(peer); }
  /// Ends the wait.
  void end() noexcept {
    if (has_end_) [[unlikely]]
      finish();
  }
  [[nodiscard]] int peer() const noexcept { return wait_.peer(); }
  [[nodiscard]] call_id now() const noexcept { return wait_.call(); }

 private:
  void finish() noexcept;

  progress_engine* engine_;
  bool has_end_ = false;  ///< the end of the wait has to be reported
  bool is_observed_ = false;
  watched_wait wait_;
};

}  // namespace chorale::transport
