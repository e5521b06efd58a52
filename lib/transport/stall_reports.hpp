// Reports of waits that take long, and the end of those that take too long.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/core/config.hpp>
#include <chorale/core/stall_report.hpp>
#include <chorale/transport/call_record.hpp>
#include <chorale/transport/inquiry.hpp>
#include <chorale/transport/liveness.hpp>

#include "membership.hpp"
#include "stall_survey.hpp"

namespace chorale::transport {

/// Finds out what the other ranks are doing, and says it: one survey at a time. On the rank's own thread.
class stall_reports {
 public:
  /// All outlive it.
  stall_reports(const membership& group, const config& settings, const call_record& calls, liveness& lives,
                inquiry& asks);
  ~stall_reports();
  stall_reports(const stall_reports&) = delete;
  stall_reports& operator=(const stall_reports&) = delete;

  /// Begins to ask, for the report of a wait.
  void begin();
  /// Asks who has not answered yet, and when all have, or had the time to, reports: a wait for `peer` in call
  /// `now` goes on that began at `since`, in attended time. True if that is done, or is the business of
  /// another rank. @throws what the handler of the program throws.
  [[nodiscard]] bool get_on(int peer, call_id now, clock::duration since);
  /// The wait is over.
  void cancel() noexcept;
  /// Asks all ranks, looks around while they answer, and fails the wait for `peer` in call `now`.
  /// @throws error errc::deadline, always; errc::mismatch if that is why; what `look_around` throws.
  [[noreturn]] void fail_by_deadline(int peer, call_id now, const std::function<void()>& look_around);

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
