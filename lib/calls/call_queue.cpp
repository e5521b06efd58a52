// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include <chorale/calls/call_queue.hpp>
#include <chorale/transport/observers/observed_calls.hpp>

namespace chorale::detail {
namespace {

/// How long to let a call finish when an exception is about to destroy its buffers. Peers that are already in
/// the call need less time, and an exception should not be held up longer.
constexpr auto patience_of_unwinding = std::chrono::milliseconds{100};

/// The same without an exception: config::silence, but no longer than the deadline.
clock::duration patience_of(const config& settings) {
  return settings.deadline.count() == 0 ? settings.silence : std::min(settings.silence, settings.deadline);
}

std::exception_ptr destroyed(const pending_call& call, int rank, const char* what) noexcept {
  try {
    return std::make_exception_ptr(error(
        errc::poisoned,
        fmt::format("{} of {} (call {}) was destroyed on rank {} before the call was over, so the call was "
                    "withdrawn; request and buffers have to live until wait() has returned",
                    what, call.what.describe(), call.now.number, rank),
        {rank}));
  } catch (...) {
    return std::current_exception();
  }
}

std::exception_ptr suspended_by_others(const pending_call& head, const transport::endpoint& net) noexcept {
  try {
    return std::make_exception_ptr(error(
        errc::misuse,
        fmt::format("{} on rank {}: its algorithm {} was suspended by something that is no operation of its "
                    "transport; it may await those and tasks, nothing else",
                    head.what.describe(), net.rank(), net.calls().algorithm_of(head.what.what)),
        {net.rank()}));
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace

/// Marks the queue as being driven, so that nested calls do not drive it again. Restores the engine's state
/// for a caller that drives the queue from inside a wait on the same transport.
class call_queue::place {
 public:
  explicit place(call_queue& queue) noexcept
      : queue_(queue),
        driven_(std::exchange(queue.driven_, true)),
        exceptions_(queue.net_->engine().set_exceptions_outside(std::uncaught_exceptions())) {}
  place(const place&) = delete;
  place& operator=(const place&) = delete;
  ~place() {
    queue_.net_->engine().set_exceptions_outside(exceptions_);
    queue_.driven_ = driven_;
  }

 private:
  call_queue& queue_;
  bool driven_;
  int exceptions_;
};

call_queue::call_queue(transport::endpoint& net) : net_(&net), is_reported_(std::make_shared<bool>(false)) {}

call_queue::~call_queue() {
  if (calls_.empty()) return;
  const auto last = calls_.back();
  settle(*last, std::uncaught_exceptions() > exceptions_, "the communicator");
}

void call_queue::prepare(const call& what, std::uint32_t signature) {
  drain();
  if (!net_->calls().is_observed()) return;
  net_->failures().require_sound();
  if (!net_->calls().observed().passes(signature)) observe(what, false);
}

void call_queue::observe(const call& what, bool is_nonblocking) {
  net_->failures().require_sound();
  try {
    net_->calls().observed().begin(net_->calls().next(), what, is_nonblocking);
  } catch (...) {
    rethrow_unbegun();
  }
}

std::shared_ptr<pending_call> call_queue::begin(const call& what) {
  try {
    auto begun = std::make_shared<pending_call>();
    begun->what = what;
    return begun;
  } catch (...) {
    net_->failures().require_sound();
    rethrow_unbegun();
  }
}

void call_queue::rethrow_unbegun() {
  const std::exception_ptr why = std::current_exception();
  fail(why);
  *is_reported_ = true;
  std::rethrow_exception(why);
}

void call_queue::note_algorithm() noexcept {
  net_->calls().observed().note_algorithm();
}

void call_queue::end_observed(call_id now, const std::exception_ptr& failure) noexcept {
  if (net_->calls().is_observed()) net_->calls().observed().end(now.number, failure);
}

void call_queue::rethrow_failure() {
  const std::exception_ptr why = net_->calls().labelled(std::current_exception());
  net_->failures().fail(why);
  if (net_->calls().is_observed()) {
    transport::observed_calls& observed = net_->calls().observed();
    observed.catch_up(net_->calls().current());
    observed.end_all(why);
  }
  std::rethrow_exception(why);
}

void call_queue::push(std::shared_ptr<pending_call> begun) {
  calls_.push_back(std::move(begun));
  net_->use().set_pending(true);
  net_->calls().set_pending(true);
  enlist();
}

void call_queue::drive(attention how) {
  const place here{*this};
  while (!calls_.empty()) {
    if (withdrawn_) return fail(std::exchange(withdrawn_, nullptr));
    if (net_->failures().is_poisoned()) return fail(net_->failures().poison());
    pending_call* const head = calls_.front().get();
    if (!std::exchange(head->started, true)) {
      waited_ = {};
      if (net_->calls().is_observed()) net_->calls().observed().run(head->now.number);
      head->algorithm.resume();
    } else {
      waited_ = net_->engine().advance(std::exchange(how, how == attention::waits ? attention::passes : how));
    }
    if (head->algorithm.done()) {
      finish();
    } else if (net_->failures().ended_by()) {
      // An await failed, but the algorithm ignored that and went on.
      return fail(net_->calls().labelled(net_->failures().ended_by()));
    } else if (!net_->engine().is_parked()) {
      return fail(suspended_by_others(*head, *net_));
    } else if (how != attention::waits) {
      return;
    }
  }
}

background::remainder call_queue::advance(attention how) noexcept {
  // Returned if a call is active further up the stack.
  constexpr remainder later{.waited = {}};
  if (driven_) return later;
  const transport::occupancy::passage inside{net_->use()};
  if (!inside.is_open()) {
    if (!net_->use().is_parents()) return later;
    delist();  // in this child of fork(), which cannot advance its parent's calls
    return {};
  }
  drive(how);
  return calls_.empty() ? remainder{} : remainder{waited_, net_->engine().shares_cores()};
}

void call_queue::finish() {
  const auto ended = std::move(calls_.front());
  pending_call& head = *ended;
  calls_.pop_front();
  if (calls_.empty()) leave();
  head.done = true;
  head.queue = nullptr;
  try {
    head.algorithm.result();
    net_->failures().require_whole();
    net_->calls().complete(head.now);
  } catch (...) {
    head.failure = net_->calls().labelled(std::current_exception());
  }
  // The frame's memory belongs to the communicator, which the request may outlive.
  head.algorithm.discard();
  end_observed(head.now, head.failure);
  if (!head.failure) return;
  head.is_reported = is_reported_;
  fail(head.failure);
}

void call_queue::fail(const std::exception_ptr& why) noexcept {
  leave();
  net_->engine().forget_parked();
  // Before the frames are destroyed, since peers may be writing into memory inside them.
  net_->failures().fail(why);
  net_->failures().note_unreported(why, is_reported_);
  while (!calls_.empty()) {
    const auto one = std::move(calls_.front());
    calls_.pop_front();
    one->done = true;
    one->queue = nullptr;
    one->failure = why;
    one->is_reported = is_reported_;
    one->algorithm.discard();
  }
  if (net_->calls().is_observed()) net_->calls().observed().end_all(why);
}

void call_queue::leave() noexcept {
  delist();
  net_->use().set_pending(false);
  net_->calls().set_pending(false);
}

void call_queue::settle(pending_call& last, bool unwinding, const char* why) noexcept {
  const transport::occupancy::passage inside{net_->use()};
  // Another thread is inside, which is misuse: touching anything would only make it worse.
  if (!inside.is_open()) return;
  if (driven_) {
    withdrawn_ = destroyed(last, net_->rank(), why);
    return;
  }
  backoff pace = net_->engine().pace();
  const auto start = clock::now();
  const clock::duration patience = unwinding ? patience_of_unwinding : patience_of(net_->settings());
  for (;;) {
    drive(attention::passes);
    if (last.done) return;
    const auto waited = clock::now() - start;
    if (waited > patience) return fail(destroyed(last, net_->rank(), why));
    if (pace()) pace.elapsed(waited);
  }
}

}  // namespace chorale::detail
