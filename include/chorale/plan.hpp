// Plans: calls that are prepared once and made as often as one likes.
#pragma once

#include <memory>
#include <utility>

#include <chorale/calls/planned_call.hpp>

namespace chorale {

/// A call of a communicator with its arguments, to be made again and again:
///
///     auto step = comm.plan_allreduce(residual, chorale::sum);
///     while (...) {
///       ...                // fill `residual`
///       step.start();
///       ...                // compute something else
///       step.wait();
///     }
///
/// Making it checks the arguments, and keeps the registrations of buffers that are long enough to be moved
/// without a copy: it is local, sends nothing, and throws what the call throws for wrong arguments. Counts
/// and lists of messages are copied; buffers are not. Those must outlive the plan; what is in them is read,
/// and written, from each `start()` until that call is over, as by a nonblocking call. Operators are copied.
///
/// Each `start()` is one call of the communicator, in the order in which this rank makes its calls, and the
/// same on the wire as the plain one: other ranks may make it without a plan. It is served by the algorithm
/// that would serve the plain call. Connections are made by the first call that needs them, and stay. What is
/// said of requests holds for a plan that has been started: who makes progress, errors, deadlines, threads,
/// and that destroying it, or assigning another to it, waits for the call or withdraws it.
///
/// A plan may outlive its communicator, which may be moved, but not be started then. In a child of fork() it
/// can only be destroyed. Move-only; one that was moved from, or that nothing was assigned to, stands for no
/// call. Cost: up to 1 KiB `run()` takes fewer instructions than the plain call, `start()` with `wait()` than
/// the nonblocking one (docs/nonblocking.md has them; a barrier has nothing to save).
/// @throws error errc::misuse, before anything is sent and without harm to the communicator, for a start of
/// one that has been started and not been waited for, a wait for one that has not been started, and a plan
/// of no call.
class [[nodiscard]] plan {
 public:
  plan() = default;
  /// For `communicator::plan_...`, which makes plans.
  explicit plan(std::unique_ptr<calls::planned_call> of) noexcept : call_(std::move(of)) {}

  /// True if it stands for a call.
  [[nodiscard]] bool valid() const noexcept { return call_ != nullptr; }
  /// True if it has been started and the end of that call has not been reported yet.
  [[nodiscard]] bool is_running() const noexcept { return call_ && call_->is_running(); }

  /// Begins the call, as its nonblocking form does. @throws error as that.
  void start() { on().start(); }
  /// True if no call is running; makes progress. @throws error, once, if the call failed.
  bool test() { return on().test(); }
  /// Returns when the call is over. @throws error as `request::wait`.
  void wait() { on().wait(); }
  /// The blocking form, cheaper than `start()` and `wait()`. @throws error as the plain call.
  void run() { on().run(); }

 private:
  [[nodiscard]] calls::planned_call& on() const {
    if (!call_) [[unlikely]]
      calls::refuse_empty_plan();
    return *call_;
  }

  std::unique_ptr<calls::planned_call> call_;
};

}  // namespace chorale

#include <chorale/planning.hpp>  // IWYU pragma: export
