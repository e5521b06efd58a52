// SPDX-License-Identifier: Apache-2.0
// Reports of long waits, and failure of those that exceed the deadline.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/core/config.hpp>
#include <chorale/core/stall_report.hpp>
#include <chorale/transport/liveness/inquiry.hpp>
#include <chorale/transport/liveness/liveness.hpp>
#include <chorale/transport/observers/call_record.hpp>

#include "../group/membership.hpp"
#include "../status/status_messages.hpp"
#include "stall_survey.hpp"

namespace chorale::transport {

/// The state of `rank` according to its answer, if any.
[[nodiscard]] stall_report::rank_state state_of(int rank, const std::optional<status_answer>& answer);
/// One clause per rank, each beginning with "; ", ranks that do not wait first; at most eight.
[[nodiscard]] std::string describe_ranks(std::vector<stall_report::rank_state> ranks);
/// "rank N", or "any rank" if negative.
[[nodiscard]] std::string name_of_awaited(int rank);
/// Numbers separated by commas; at most sixteen.
[[nodiscard]] std::string list_of(const std::vector<int>& ranks);
/// A clause, beginning with "; ", if a wrong setting of the order of writes may keep a wait from ending;
/// otherwise empty.
[[nodiscard]] std::string order_hint(const config& settings);

/// Surveys what the other ranks are doing and reports it, one survey at a time. Used on the rank's own
/// thread.
class stall_reports {
 public:
  /// All arguments must outlive this.
  stall_reports(const membership& group, const config& settings, const call_record& calls, liveness& lives,
                inquiry& asks);
  ~stall_reports();
  stall_reports(const stall_reports&) = delete;
  stall_reports& operator=(const stall_reports&) = delete;

  /// Starts a survey for the report of a wait.
  void begin();
  /// Repeats questions to ranks that have not answered. Once all have answered or the time for answers is
  /// over, reports a wait for `peer` in call `now` that began at `since`, in attended time. True once the
  /// wait is reported, or its report left to another rank. @throws exceptions of the program's handler.
  [[nodiscard]] bool advance(int peer, call_id now, clock::duration since);
  /// The wait has ended.
  void cancel() noexcept;
  /// Asks all ranks, calls `progress_all` while they answer, and fails the wait for `peer` in call `now`.
  /// @throws error errc::deadline, always; errc::mismatch if that is the cause; exceptions of `progress_all`.
  [[noreturn]] void fail_by_deadline(int peer, call_id now, const std::function<void()>& progress_all);

 private:
  using answers = std::vector<std::optional<status_answer>>;

  void start(bool all);
  [[nodiscard]] answers finish();
  void ask(clock::time_point time, call_id now);
  [[nodiscard]] stall_report describe(const answers& told, int peer, call_id now, clock::duration since);

  const membership* group_;
  const config* settings_;
  const call_record* calls_;
  liveness* lives_;
  inquiry* asks_;
  std::unique_ptr<stall_survey> survey_;
};

}  // namespace chorale::transport
