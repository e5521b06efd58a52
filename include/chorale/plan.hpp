// SPDX-License-Identifier: Apache-2.0
// Plans (persistent calls): prepared once, started any number of times.
#pragma once

#include <utility>

#include <chorale/calls/planned_call.hpp>
#include <chorale/core/origin.hpp>

namespace chorale {

/// A call of a communicator with fixed arguments, started any number of times:
///
///     auto step = comm.plan_allreduce(chorale::in_place, residual, chorale::sum);
///     while (...) {
///       ...                // fill `residual`
///       step.start();
///       ...                // compute something else
///       step.wait();
///     }
///
/// Making a plan checks the arguments and pins the registrations of buffers long enough for zero copy. It is
/// local, sends nothing, and throws what the call throws for wrong arguments. Counts, lists of messages and
/// operators are copied; buffers are not: they must outlive the plan, and are read and written from each
/// `start()` until that call is complete, as by a nonblocking call.
///
/// Each `start()` is one call of the communicator, ordered among the other calls of this rank, and identical
/// on the wire to the plain call: other ranks may make it without a plan. The same algorithm serves it.
/// Connections are made by the first call that needs them, and stay. A started plan behaves as a request
/// does: progress, errors, deadlines, threads, and destruction or assignment, which wait for the call or
/// withdraw it.
///
/// A plan may outlive its communicator, but cannot be started after it has ended; the communicator may be
/// moved. In a child of fork() a plan can only be destroyed. Move-only; a plan that was default-constructed
/// or moved from has no call. Cost: up to 1 KiB, `run()` takes fewer instructions than the plain call, and
/// `start()` with `wait()` fewer than the nonblocking one (docs/nonblocking.md has figures; a barrier gains
/// nothing).
/// Like a request without a call, a plan that is not running counts as complete; `wait_all`, `test_all` and
/// `wait_any` take plans as they take requests.
/// @throws error errc::misuse, before anything is sent and without harm to the communicator, for starting a
/// plan that is already started or has no call.
class [[nodiscard]] plan {
  using access = detail::request_access;

 public:
  plan() = default;
  /// For `communicator::plan_...`, which construct plans.
  explicit plan(detail::process_bound_ptr<calls::planned_call> of) noexcept : call_(std::move(of)) {}

  /// True if it has a call.
  [[nodiscard]] bool valid() const noexcept { return call_ != nullptr; }
  /// True if it was started and the completion of that call has not been reported yet.
  [[nodiscard]] bool is_running() const noexcept { return call_ && call_->is_running(); }

  /// Starts the call as its nonblocking form does. @throws error as that form.
  void start() { on().start(); }
  /// True if no call is in progress; makes progress. @throws error, once, if the call failed.
  bool test() { return !call_ || call_->running().test(); }
  /// Returns when no call is in progress. @throws error as `request::wait`.
  void wait() {
    if (call_) call_->running().wait();
  }
  /// Makes the call and waits, cheaper than `start()` and `wait()`. @throws error as the plain call.
  void run() { on().run(); }

 private:
  friend struct detail::request_access;

  [[nodiscard]] bool is_pending() const noexcept { return is_running(); }
  [[nodiscard]] bool is_over() const noexcept { return !call_ || access::is_over(call_->running()); }
  [[nodiscard]] detail::call_queue* queue() const noexcept { return access::queue(call_->running()); }
  void report() { access::report(call_->running()); }
  [[nodiscard]] calls::planned_call& on() const {
    if (!call_) [[unlikely]]
      calls::refuse_empty_plan();
    return *call_;
  }

  detail::process_bound_ptr<calls::planned_call> call_;
};

}  // namespace chorale

#include <chorale/planning.hpp>  // IWYU pragma: export
