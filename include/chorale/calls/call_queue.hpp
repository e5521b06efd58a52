// SPDX-License-Identifier: Apache-2.0
// The pending nonblocking calls of one communicator.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include <chorale/core/attention.hpp>
#include <chorale/core/background.hpp>
#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/core/task.hpp>
#include <chorale/transport/endpoint/endpoint.hpp>

namespace chorale::detail {

class call_queue;

/// A call that has begun. Its request and its communicator share ownership, so either may be destroyed first.
struct pending_call {
  call what;
  call_id now;
  call_queue* queue = nullptr;  ///< null once the call is done
  task<> algorithm;
  bool started = false;
  bool done = false;
  std::exception_ptr failure;
  std::shared_ptr<bool> is_reported;  ///< whether `failure`, which other calls may share, was thrown

  /// @throws the failure, if any.
  void report() const {
    if (!failure) return;
    if (is_reported) *is_reported = true;
    std::rethrow_exception(failure);
  }
};

/// The calls of one communicator, in the order in which they were made. They run one after the other; since
/// the order is the same on all ranks, no call can wait for a later one. Calls of several communicators run
/// concurrently: every wait of the thread that began them drives them all.
///
/// A call ends in one of two ways: its algorithm completes, or the call is withdrawn. A withdrawn call has
/// its frames destroyed, the transport stops using the user's memory, and the communicator is poisoned.
class call_queue : private background {
 public:
  explicit call_queue(transport::endpoint& net);
  call_queue(const call_queue&) = delete;
  call_queue& operator=(const call_queue&) = delete;
  /// Ends all calls as `settle` does.
  ~call_queue();

  /// Begins a call that runs the task returned by `make(call_id)`, and advances it as far as possible without
  /// waiting.
  template <class Make>
  std::shared_ptr<pending_call> start(const call& what, Make&& make) {
    auto begun = begin(what);
    start(begun, what.signature(), make);
    return begun;
  }
  /// The same for a call that is done or has never begun. `signature` is that of its `what`.
  template <class Make>
  void start(const std::shared_ptr<pending_call>& one, std::uint32_t signature, Make&& make) {
    if (net_->calls().is_observed()) [[unlikely]]
      observe(one->what, true);
    one->now = net_->begin(one->what, signature);
    one->now = one->now.parking();
    one->queue = this;
    one->started = false;
    one->done = false;
    one->failure = nullptr;
    one->is_reported = nullptr;
    try {
      one->algorithm = make(one->now);
      if (net_->calls().is_observed()) [[unlikely]]
        note_algorithm();
      push(one);
    } catch (...) {
      // Its frame must not live longer than the communicator, as a plan may.
      one->algorithm.discard();
      one->done = true;
      one->queue = nullptr;
      rethrow_unbegun();
    }
    drive(attention::passes);
  }
  /// Runs the task returned by `make(call_id)` as a blocking call, after all earlier calls. Its awaits block,
  /// so the call is over when `resume` returns. Inline, so that the compiler folds the constant fields of a
  /// call into its signature.
  template <class Make>
  [[gnu::always_inline]] void run(const call& what, std::uint32_t signature, Make&& make) {
    transport::endpoint& net = *net_;
    if (net.calls().is_busy()) [[unlikely]]
      prepare(what, signature);
    const call_id now = net.begin(what, signature);
    try {
      task<> algorithm = make(now);
      algorithm.resume();
      algorithm.result();
      net.failures().require_whole();
    } catch (...) {
      rethrow_failure();
    }
    net.calls().complete(now);
    if (net.calls().has_observed_call()) [[unlikely]]
      end_observed(now, nullptr);
  }

  [[nodiscard]] transport::endpoint& net() const noexcept { return *net_; }

  /// Advances the calls as far as possible without waiting or, with attention::waits, waits for one event.
  void drive(attention how);
  /// The same for a request of the user. @throws error errc::misuse if the communicator is in use already.
  void drive_for_request(attention how) {
    const transport::occupancy::entry inside{net_->use(), operation::none};
    drive(how);
  }
  void drain() {
    while (!calls_.empty()) drive(attention::waits);
  }

  /// Ends `last` and all earlier calls, because an object needed to wait for them was destroyed (`why` says
  /// which). Drives the calls for up to config::silence (at most config::deadline, if set), or for up to 100
  /// ms if an exception is in flight (`unwinding`), then withdraws unfinished calls. If called from inside a
  /// call of this communicator, it cannot drive them: all are withdrawn as soon as the running algorithm
  /// suspends.
  void settle(pending_call& last, bool unwinding, const char* why) noexcept;

 private:
  class place;

  [[nodiscard]] std::shared_ptr<pending_call> begin(const call& what);
  /// Fails the communicator after an exception that prevented a call from beginning, since the other ranks
  /// are about to make that call; then rethrows the exception.
  [[noreturn]] void rethrow_unbegun();
  /// Before a blocking call: completes pending calls and tells observers that this one begins.
  void prepare(const call& what, std::uint32_t signature);
  /// Tells observers that the next call begins. @throws the error that poisoned the communicator, if any.
  void observe(const call& what, bool is_nonblocking);
  void note_algorithm() noexcept;
  void end_observed(call_id now, const std::exception_ptr& failure) noexcept;
  /// Fails the blocking call, and the communicator, by the exception being handled, then rethrows it.
  [[noreturn]] void rethrow_failure();
  void push(std::shared_ptr<pending_call> begun);
  remainder advance(attention how) noexcept override;
  void finish();
  void fail(const std::exception_ptr& why) noexcept;
  void leave() noexcept;

  transport::endpoint* net_;
  std::deque<std::shared_ptr<pending_call>> calls_;
  std::shared_ptr<bool> is_reported_;  ///< whether a failure of `calls_` has been thrown
  std::exception_ptr withdrawn_;       ///< why to withdraw all calls once none of them is running
  int exceptions_ = std::uncaught_exceptions();
  bool driven_ = false;
  clock::duration waited_{};  ///< how long the first call had been at its current wait when last advanced
};

}  // namespace chorale::detail
