// The nonblocking calls of one communicator that are not over.
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
#include <chorale/core/task.hpp>
#include <chorale/transport/endpoint.hpp>

namespace chorale::detail {

class call_queue;

/// One call that was begun. Its request and its communicator share it, so that either may end first.
struct pending_call {
  call what;
  call_id now;
  call_queue* queue = nullptr;  ///< while it is not done
  task<> algorithm;
  bool started = false;
  bool done = false;
  std::exception_ptr failure;
  std::shared_ptr<bool> is_reported;  ///< of the failure, which other calls may share

  /// @throws the failure, if any.
  void report() const {
    if (!failure) return;
    if (is_reported) *is_reported = true;
    std::rethrow_exception(failure);
  }
};

/// The calls of one communicator, in the order in which they were made. They run one after the other: that is
/// the order on all ranks, so none can wait for a later one. Those of several communicators run side by side:
/// every wait of the thread that began them drives all.
///
/// A call ends in one of two ways: its algorithm comes to its end, or it is withdrawn. Then its frames are
/// destroyed, the transport lets go of the user's memory, and the communicator is poisoned.
class call_queue : private background {
 public:
  explicit call_queue(transport::endpoint& net);
  call_queue(const call_queue&) = delete;
  call_queue& operator=(const call_queue&) = delete;
  /// Brings all calls to their end as `settle` does.
  ~call_queue();

  /// Begins a call of what `make(call_id)` returns, a task, and lets it get on as far as it does without
  /// waiting.
  template <class Make>
  std::shared_ptr<pending_call> start(const call& what, Make&& make) {
    auto begun = begin(what);
    start(begun, what.signature(), make);
    return begun;
  }
  /// The same of a call that has been over before, or has never been begun. `signature` is that of its
  /// `what`.
  template <class Make>
  void start(const std::shared_ptr<pending_call>& one, std::uint32_t signature, Make&& make) {
    if (net_->calls().is_observed()) [[unlikely]]
      observe(one->what, true);
    one->now = net_->begin(one->what, signature);
    one->now.parks = true;
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
      one->done = true;
      one->queue = nullptr;
      rethrow_unbegun();
    }
    drive(attention::passes);
  }
  /// A blocking call of what `make(call_id)` returns, after those before it: its waits happen inside the
  /// awaits, so that it is over when `resume` returns. Inline, so that what is constant in a call is constant
  /// in its signature.
  template <class Make>
  [[gnu::always_inline]] void run(const call& what, std::uint32_t signature, Make&& make) {
    transport::endpoint& net = *net_;
    if (net.calls().is_busy()) [[unlikely]]
      prepare(what);
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
    if (net.calls().is_busy()) [[unlikely]]
      end_observed(now, nullptr);
  }

  [[nodiscard]] bool empty() const noexcept { return calls_.empty(); }
  [[nodiscard]] transport::endpoint& net() const noexcept { return *net_; }

  /// Gets on with the calls as far as possible without waiting, or, if it `waits`, waits for one thing.
  void drive(attention how);
  /// The same for the user, who must not be inside already.
  void drive_for_request(attention how) {
    const transport::occupancy::entry inside{net_->use(), operation::none};
    drive(how);
  }
  void drain() {
    while (!calls_.empty()) drive(attention::waits);
  }

  /// Brings `last`, and with it all calls before, to an end since nobody can wait for it any more: `why` says
  /// what was destroyed. Drives it for config::silence, or for 100 ms if an exception is in flight
  /// (`unwinding`); what is not over then is withdrawn. Where it can do neither, since it is called from
  /// inside a call of this communicator, the call is withdrawn as soon as the algorithm that runs suspends.
  void settle(pending_call& last, bool unwinding, const char* why) noexcept;

 private:
  class place;

  [[nodiscard]] std::shared_ptr<pending_call> begin(const call& what);
  /// A call could not be begun, by the exception that is being handled and is thrown on: the communicator
  /// fails, since the other ranks are about to make this call.
  [[noreturn]] void rethrow_unbegun();
  /// What comes before a blocking call: calls that are pending end, and observers are told of this one.
  void prepare(const call& what);
  /// Tells observers that the next call begins, if it is not refused.
  void observe(const call& what, bool is_nonblocking);
  void note_algorithm() noexcept;
  void end_observed(call_id now, const std::exception_ptr& failure) noexcept;
  /// The blocking call fails by the exception that is being handled, which is thrown on.
  [[noreturn]] void rethrow_failure();
  void push(std::shared_ptr<pending_call> begun);
  bool get_on(attention how) noexcept override;
  void finish();
  void fail(const std::exception_ptr& why) noexcept;
  void leave() noexcept;

  transport::endpoint* net_;
  std::deque<std::shared_ptr<pending_call>> calls_;
  std::shared_ptr<bool> is_reported_;  ///< whether a failure of `calls_` has been thrown
  std::exception_ptr withdrawn_;       ///< why all calls are to end as soon as none of them runs
  int exceptions_ = std::uncaught_exceptions();
  bool driven_ = false;
};

}  // namespace chorale::detail
