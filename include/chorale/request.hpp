// SPDX-License-Identifier: Apache-2.0
// Handles of nonblocking calls, and functions that wait for several of them.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>

#include <chorale/calls/call_queue.hpp>
#include <chorale/core/attention.hpp>
#include <chorale/core/background.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/core/progress.hpp>  // IWYU pragma: export

namespace chorale {

class request;
template <class Made>
class request_for;
class plan;

namespace detail {

/// What `wait_all`, `test_all` and `wait_any` accept, also in ranges.
template <class Argument>
inline constexpr bool is_request = std::is_same_v<Argument, request&> || std::is_same_v<Argument, plan&>;
template <class Made>
inline constexpr bool is_request<request_for<Made>&> = true;

/// What these functions ask of a request or a plan.
struct request_access {
  static bool is_pending(const auto& one) noexcept { return one.is_pending(); }  ///< has an unreported call
  static bool is_over(const auto& one) noexcept { return one.is_over(); }
  static call_queue* queue(const auto& one) noexcept { return one.queue(); }  ///< of its call
  static void report(auto& one) { one.report(); }
};

/// Calls `use` for each request and plan among the arguments, which may be ranges of them.
template <class Use, class... Requests>
void for_each_request(const Use& use, Requests&... requests) {
  const auto visit = [&](auto& argument) {
    if constexpr (is_request<decltype(argument)>) {
      use(argument);
    } else if constexpr (std::ranges::forward_range<decltype(argument)>) {
      constexpr bool holds_requests = is_request<std::ranges::range_reference_t<decltype(argument)>>;
      static_assert(holds_requests,
                    "chorale: the range must consist of requests or plans that are not const");
      if constexpr (holds_requests)
        for (auto& one : argument) use(one);
    } else {
      static_assert(
          is_request<decltype(argument)>,
          "chorale: the argument must be a request or a plan that is not const, or a range of them");
    }
  };
  (visit(requests), ...);
}

/// Makes progress for the pending requests among the arguments, each of which is driven although the caller
/// may run inside `background::advance_all`, which does not call itself. @returns the queue of a request that
/// is not over; null if there is none. @throws error as `request::test`.
template <class... Requests>
call_queue* drive_pending(Requests&... requests) {
  using access = request_access;
  background::advance_all(attention::polls);
  call_queue* driven = nullptr;
  call_queue* waits_for = nullptr;
  detail::for_each_request(
      [&](const auto& one) {
        if (access::is_over(one)) return;
        call_queue* const queue = access::queue(one);
        if (queue != std::exchange(driven, queue)) queue->drive_for_request(attention::polls);
        if (waits_for == nullptr && !access::is_over(one)) waits_for = queue;
      },
      requests...);
  return waits_for;
}

/// The object that a call makes, or why this rank has none although the call itself is complete.
template <class Made>
struct outcome {
  std::optional<Made> made;
  std::exception_ptr failure;

  void report() {
    if (failure) std::rethrow_exception(std::exchange(failure, nullptr));
  }
  std::optional<Made> take() {
    report();
    return std::exchange(made, std::nullopt);
  }
};

}  // namespace detail

/// A nonblocking call. Its buffers must live and stay untouched until `test()` has returned true or `wait()`
/// has returned. It progresses whenever the thread that started it waits in Chorale: while any request, of
/// this or another communicator, is tested or waited for, in a blocking call, or in `chorale::progress()`.
/// Ranks may therefore wait for the calls of several communicators in different orders. Test, wait for and
/// destroy it on the thread that started it; hand a communicator to another thread only when none of its
/// calls is pending. Move-only; a request without a call, moved from or already waited for, counts as
/// complete.
///
/// Destroying a request, or assigning another to it, does not abandon the call: the destructor waits until
/// the call is complete, for at most config::silence, or for 100 ms during stack unwinding. A call that is
/// not complete then is withdrawn: neither this rank nor a peer accesses its buffers any more, and an error
/// that says so poisons the communicator on all ranks. The same happens when a communicator is destroyed
/// before its calls are complete; their requests then throw errc::poisoned. (A peer on soft0 that was stopped
/// in the middle of a copy, as by SIGSTOP, for more than 5 s may still finish that one copy.)
class [[nodiscard]] request {
 public:
  request() = default;
  /// `owner`: the name that errors use for the object that waits for the call.
  explicit request(std::shared_ptr<detail::pending_call> call, const char* owner = "the request") noexcept
      : call_(std::move(call)), owner_(owner) {}
  request(request&& other) noexcept
      : call_(std::exchange(other.call_, nullptr)), owner_(other.owner_), exceptions_(other.exceptions_) {}
  request& operator=(request&& other) noexcept {
    if (this == &other) return *this;
    settle();
    call_ = std::exchange(other.call_, nullptr);
    owner_ = other.owner_;
    exceptions_ = other.exceptions_;
    return *this;
  }
  ~request() { settle(); }

  /// Attaches `call`. Precondition: this request has no call.
  void stand_for(const std::shared_ptr<detail::pending_call>& call) noexcept { call_ = call; }

  /// True if it has a call whose completion has not been reported yet.
  [[nodiscard]] bool valid() const noexcept { return call_ != nullptr; }

  /// True once the call is complete; makes progress. Where ranks share cores it yields to others if the
  /// call is not complete (`config::wait`); so do the other functions that poll. @throws error, once, if the
  /// call failed. If a program polls for longer than config::stall there is a stall report; no deadline ends
  /// the call.
  bool test() {
    if (!call_) return true;
    if (!call_->done) call_->queue->drive_for_request(attention::polls);
    if (!call_->done) background::advance_all(attention::passes);
    if (!call_->done) {
      call_->queue->net().engine().give_way();
      return false;
    }
    report();
    return true;
  }

  /// Returns when the call is complete. @throws error if it failed, or, as a blocking call does, if waiting
  /// is futile.
  void wait() {
    if (!call_) return;
    while (!call_->done) call_->queue->drive_for_request(attention::waits);
    report();
  }

 private:
  template <class Made>
  friend class request_for;
  friend struct detail::request_access;

  [[nodiscard]] bool is_pending() const noexcept { return valid(); }
  [[nodiscard]] bool is_over() const noexcept { return !call_ || call_->done; }
  [[nodiscard]] detail::call_queue* queue() const noexcept { return call_->queue; }
  void report() {
    const auto call = std::exchange(call_, nullptr);
    call->report();
  }
  void settle() noexcept {
    if (!call_) return;
    if (!call_->done) call_->queue->settle(*call_, std::uncaught_exceptions() > exceptions_, owner_);
    call_ = nullptr;
  }

  std::shared_ptr<detail::pending_call> call_;
  const char* owner_ = "the request";
  int exceptions_ = std::uncaught_exceptions();
};

/// The request of a call that makes a communicator: `comm.isplit(color)`. As `request`; in addition, `take()`
/// returns what was made. If the request is destroyed before that, what the call makes is destroyed too: at
/// once, or as soon as the call is complete.
template <class Made>
class [[nodiscard]] request_for {
 public:
  request_for() = default;
  /// For the calls that make communicators.
  request_for(request call, std::shared_ptr<detail::outcome<Made>> out) noexcept
      : out_(std::move(out)), call_(std::move(call)) {}

  [[nodiscard]] bool valid() const noexcept { return call_.valid(); }  ///< As `request::valid`.
  /// As `request::test`. @throws error, once, also if this rank could not make its communicator.
  bool test() {
    if (!call_.test()) return false;
    if (out_) out_->report();
    return true;
  }
  /// As `request::wait`. @throws error as `test`.
  void wait() {
    call_.wait();
    if (out_) out_->report();
  }
  /// Waits, and returns what the call has made; empty if called again, and on a rank that belongs to no new
  /// communicator.
  [[nodiscard]] std::optional<Made> take() {
    wait();
    return out_ ? out_->take() : std::nullopt;
  }

 private:
  friend struct detail::request_access;

  [[nodiscard]] bool is_pending() const noexcept { return valid(); }
  [[nodiscard]] bool is_over() const noexcept { return call_.is_over(); }
  [[nodiscard]] detail::call_queue* queue() const noexcept { return call_.queue(); }
  void report() {
    call_.report();
    out_->report();
  }

  std::shared_ptr<detail::outcome<Made>> out_;
  request call_;  ///< destroyed first
};

/// Waits for all `requests`: requests, plans and ranges of them, in any mixture, of one or several
/// communicators; those without a call, and plans that are not running, count as complete. @throws error the
/// failure of the first that failed, after all are complete.
template <class... Requests>
void wait_all(Requests&&... requests) {
  std::exception_ptr failure;
  detail::for_each_request(
      [&](auto& one) {
        try {
          one.wait();
        } catch (...) {
          if (!failure) failure = std::current_exception();
        }
      },
      requests...);
  if (failure) std::rethrow_exception(failure);
}

/// True if all `requests`, as for `wait_all`, are complete; makes progress. Until then all of them stay
/// valid.
/// @throws error as `wait_all`, once all are complete.
template <class... Requests>
bool test_all(Requests&&... requests) {
  using access = detail::request_access;
  detail::call_queue* const waits_for = detail::drive_pending(requests...);
  bool all_over = true;
  detail::for_each_request([&](const auto& one) { all_over = all_over && access::is_over(one); },
                           requests...);
  if (all_over)
    chorale::wait_all(requests...);
  else if (waits_for != nullptr)
    waits_for->net().engine().give_way();
  return all_over;
}

/// Waits until one of `requests`, as for `wait_all`, is complete and returns its index (the lowest if there
/// are several), counted through all arguments; that request then has no call. Requests without a call are
/// skipped; if there are no others, returns the number of requests at once. @throws error the failure of that
/// one call, as `request::wait`.
template <class... Requests>
std::size_t wait_any(Requests&&... requests) {
  using access = detail::request_access;
  const auto start = clock::now();
  std::optional<backoff> pace;
  for (;;) {
    detail::call_queue* const waits_for = detail::drive_pending(requests...);
    std::size_t count = 0;
    std::optional<std::size_t> complete;
    detail::for_each_request(
        [&](auto& one) {
          if (!complete && access::is_pending(one) && access::is_over(one)) {
            complete = count;
            access::report(one);
          }
          ++count;
        },
        requests...);
    if (complete) return *complete;
    if (waits_for == nullptr) return count;
    if (!pace) pace.emplace(waits_for->net().engine().pace());
    if (!(*pace)()) continue;
    const auto waited = clock::now() - start;
    pace->elapsed(waited);
    // `wait_any` polls, which has no deadline; a wait for this one request enforces it.
    const auto deadline = waits_for->net().settings().deadline;
    if (deadline.count() != 0 && waited > deadline) waits_for->drive_for_request(attention::waits);
  }
}

}  // namespace chorale
