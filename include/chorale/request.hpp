// Nonblocking calls: the handle of one, and the queue in which a communicator runs them.
#pragma once

#include <deque>
#include <exception>
#include <memory>
#include <utility>

#include <chorale/core/background.hpp>
#include <chorale/core/error.hpp>
#include <chorale/core/task.hpp>
#include <chorale/transport/endpoint.hpp>

namespace chorale {

namespace detail {

/// One call that was begun and may not be over.
struct pending_call {
  task<> algorithm;
  epoch now;
  bool started = false;
  bool done = false;
  std::exception_ptr failure;
};

/// The calls of one communicator, in the order in which they were made. They run one after the other: that is
/// the order on all ranks, so none can wait for a later one. Those of several communicators run side by side:
/// every wait of the thread that began them drives all.
class call_queue : private background {
 public:
  explicit call_queue(transport::endpoint& net) noexcept : net_(&net) {}
  ~call_queue() { abandon(std::make_exception_ptr(error(errc::poisoned, "the communicator was destroyed"))); }

  void push(std::shared_ptr<pending_call> call) {
    calls_.push_back(std::move(call));
    net_->use().set_pending(true);
    enlist();
  }
  [[nodiscard]] bool empty() const noexcept { return calls_.empty(); }

  /// Gets on with the calls as far as possible without waiting, or, with `wait`, waits for one thing.
  void drive(bool wait) {
    const place here{*this};
    while (!calls_.empty()) {
      const auto head = calls_.front();
      net_->set_blocking(false);
      if (!std::exchange(head->started, true))
        head->algorithm.resume();
      else
        net_->advance(std::exchange(wait, false));
      if (!head->algorithm.done()) {
        if (wait) continue;
        return;
      }
      finish(*head);
    }
  }

  /// The same for the user, who must not be inside already.
  void drive_for_request(bool wait) {
    const transport::occupancy::entry inside{net_->use(), operation::none};
    drive(wait);
  }

  void drain() {
    while (!calls_.empty()) drive(true);
  }

 private:
  /// While the queue is driven: it is not driven again from further in, and who drives it from inside a wait
  /// of his own on the same transport finds that as it was.
  class place {
   public:
    explicit place(call_queue& queue) noexcept
        : queue_(queue), driven_(std::exchange(queue.driven_, true)), blocking_(queue.net_->blocking()) {}
    place(const place&) = delete;
    place& operator=(const place&) = delete;
    ~place() {
      queue_.net_->set_blocking(blocking_);
      queue_.driven_ = driven_;
    }

   private:
    call_queue& queue_;
    bool driven_;
    bool blocking_;
  };

  void get_on() noexcept override {
    if (driven_) return;
    const transport::occupancy::passage inside{net_->use()};
    if (inside.is_open()) drive(false);
  }
  void finish(pending_call& head) {
    head.done = true;
    calls_.pop_front();
    if (calls_.empty()) leave();
    try {
      head.algorithm.result();
      net_->require_awaited();
      net_->complete(head.now);
    } catch (...) {
      head.failure = std::current_exception();
      net_->fail(head.failure);
      abandon(head.failure);
    }
    // The frame is the communicator's, which the request may outlive.
    head.algorithm = {};
  }
  void leave() noexcept {
    delist();
    net_->use().set_pending(false);
  }
  void abandon(const std::exception_ptr& why) {
    leave();
    for (auto& call : std::exchange(calls_, {})) {
      call->done = true;
      call->failure = why;
      call->algorithm.discard();
    }
  }

  transport::endpoint* net_;
  std::deque<std::shared_ptr<pending_call>> calls_;
  bool driven_ = false;
};

}  // namespace detail

/// A nonblocking call. Its buffers must stay untouched until `test()` has returned true or `wait()` has
/// returned. It progresses whenever the thread that began it waits in Chorale: while any request, of this or
/// another communicator, is tested or waited for, or a blocking call is made. Ranks may therefore wait for
/// the calls of several communicators in different orders. Dropping the request does not cancel the call.
/// Must not be used after its communicator has ended. It is tested and waited for on the thread that began
/// it, and a communicator is handed to another thread only when none of its calls is pending.
class [[nodiscard]] request {
 public:
  request() = default;
  request(std::shared_ptr<detail::pending_call> call, detail::call_queue& queue) noexcept
      : call_(std::move(call)), queue_(&queue) {}

  /// True once the call is over; makes progress. @throws error, once, if the call failed.
  bool test() {
    if (!call_) return true;
    if (!call_->done) queue_->drive_for_request(false);
    if (!call_->done) background::get_on_with_all();
    if (!call_->done) return false;
    take();
    return true;
  }

  /// Returns when the call is over. @throws error if it failed; errc::deadline if a wait in it took too long.
  void wait() {
    if (!call_) return;
    while (!call_->done) queue_->drive_for_request(true);
    take();
  }

 private:
  void take() {
    const auto call = std::exchange(call_, nullptr);
    if (call->failure) std::rethrow_exception(call->failure);
  }

  std::shared_ptr<detail::pending_call> call_;
  detail::call_queue* queue_ = nullptr;
};

}  // namespace chorale
