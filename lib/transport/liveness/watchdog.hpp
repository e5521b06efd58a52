// SPDX-License-Identifier: Apache-2.0
// The slow path of waits: how a rank checks that the awaited ranks are alive.
#pragma once

#include <functional>
#include <optional>

#include <chorale/core/attention.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/core/config.hpp>
#include <chorale/transport/endpoint_user.hpp>
#include <chorale/transport/liveness/failures.hpp>
#include <chorale/transport/liveness/inquiry.hpp>
#include <chorale/transport/liveness/liveness.hpp>
#include <chorale/transport/liveness/watched_wait.hpp>
#include <chorale/transport/observers/call_record.hpp>

#include "stall_reports.hpp"

namespace chorale::transport {

/// Supervises the waits of one rank: asks the awaited peer and others for signs of life, lets the failure
/// detector judge, reports stalls, and fails futile waits. Each `watched_wait` decides what to do and when;
/// this class does it. Used on the rank's own thread.
class watchdog {
 public:
  /// All arguments must outlive this.
  watchdog(const membership& group, const config& settings, endpoint_user& user, call_record& calls,
           liveness& lives, failures& failed, inquiry& asks);

  /// Continues a wait at time `now`; the first call begins it.
  void begin(watched_wait& w, clock::time_point now, attention how);
  /// Judges a wait after its owner has made progress, and asks for signs of life when due. Returns its
  /// duration. @throws error if it is futile; exceptions of a stall handler and of `progress_all`.
  clock::duration judge(watched_wait& w, clock::time_point now, attention how,
                        const std::function<void()>& progress_all);
  /// The same for a wait of a leaving rank, which does not fail: returns nothing once the deadline has
  /// passed.
  /// @throws exceptions of a stall handler.
  std::optional<clock::duration> judge_leaving(watched_wait& w, clock::time_point now);
  void end(watched_wait& w) noexcept;

 private:
  /// Throws the error of a verdict that ends the wait.
  void end_in_vain(const failure_detector::verdict& v, const watched_wait& w,
                   const std::function<void()>& progress_all);
  void report(watched_wait& w, const watched_wait::steps& next);
  void probe(const watched_wait& w, bool asks_others);
  [[noreturn]] void fail_by_leaving(int peer, call_id now);

  int rank_;
  endpoint_user* user_;
  call_record* calls_;
  liveness* lives_;
  failures* failures_;
  inquiry* asks_;
  stall_reports reports_;
};

}  // namespace chorale::transport
