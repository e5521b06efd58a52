// SPDX-License-Identifier: Apache-2.0
// Drives a communicator: the loop of a blocking wait, and the parked call.
#pragma once

#include <concepts>
#include <coroutine>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <chorale/core/attention.hpp>
#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/transport/endpoint/entry.hpp>
#include <chorale/transport/endpoint/multicasts.hpp>
#include <chorale/transport/endpoint_user.hpp>
#include <chorale/transport/liveness/failures.hpp>
#include <chorale/transport/liveness/watched_wait.hpp>
#include <chorale/transport/observers/call_record.hpp>
#include <chorale/transport/wire/control_channel.hpp>

namespace chorale::transport {

class progress_engine;

/// Slow path of a wait: progress, failures reported by others, liveness of the awaited peer and of others,
/// stall reports, deadline.
class slow_wait {
 public:
  slow_wait(progress_engine& engine, int peer, call_id now) noexcept : engine_(&engine), wait_(peer, now) {}
  /// Checks once; returns the duration of the wait in attended time. @throws error if waiting is futile;
  /// exceptions of a stall handler. With `attention::polls` there is no deadline: a program that polls
  /// decides how long it waits.
  clock::duration check(attention how = attention::waits);
  /// Reports the wait to observers from now on; call it if there are observers.
  void observe() noexcept;
  /// Changes the awaited peer.
  void expect(int peer) noexcept { wait_.expect(peer); }
  /// Ends the wait.
  void end() noexcept {
    if (has_end_) [[unlikely]]
      finish();
  }
  [[nodiscard]] int peer() const noexcept { return wait_.peer(); }
  [[nodiscard]] call_id now() const noexcept { return wait_.call(); }

 private:
  void finish() noexcept;

  progress_engine* engine_;
  bool has_end_ = false;  ///< the end of the wait has to be reported
  bool is_observed_ = false;
  watched_wait wait_;
};

/// The innermost coroutine of a call, what it waits for, and the slow wait for the awaited peer.
struct parked_call {
  std::coroutine_handle<> frame;
  bool (*ready)(void*) = nullptr;
  void* awaiter = nullptr;
  int (*awaited)(void*) = nullptr;  ///< returns the peer currently waited for, if that changes
  std::optional<slow_wait> watch;
  std::exception_ptr failure;  ///< to be raised inside the coroutine

  [[nodiscard]] int awaited_peer() const { return awaited == nullptr ? watch->peer() : awaited(awaiter); }
};

class watchdog;

/// The progress of one communicator on one rank. A blocking call waits inside its awaits; a nonblocking one
/// parks there, and continues when it is advanced. One thread at a time.
class progress_engine {
 public:
  /// The parts that it drives, which outlive it.
  struct parts {
    control_channel& channel;
    multicasts& groups;
    endpoint_user& user;
    failures& failed;
    call_record& calls;
    const occupancy& use;
  };
  /// `looks_after`: supervises the slow path of its waits. `spin`: each rank has its own core.
  progress_engine(const parts& p, std::unique_ptr<watchdog> looks_after, bool spin);
  progress_engine(const progress_engine&) = delete;
  progress_engine& operator=(const progress_engine&) = delete;
  ~progress_engine();

  /// Reads datagrams and handles completions. @throws error if a peer is lost.
  void progress();
  /// The part of the slow path that does not concern a single peer: progress, failures reported by others,
  /// other calls of this thread. @throws error if a failure was reported or a peer is lost.
  void progress_all();

  [[nodiscard]] backoff pace() const noexcept { return backoff{spin_}; }
  /// Whether a polling loop yields its core at once when it finds nothing, since the awaited rank may need
  /// it.
  [[nodiscard]] bool shares_cores() const noexcept { return !spin_; }
  /// Call when the program itself has polled and found nothing.
  void give_way() const noexcept {
    if (shares_cores()) clock::give_way();
  }
  /// As `progress`, for a program that polls for something that the engine does not know.
  void poll() {
    progress();
    give_way();
  }

  /// Waits for `peer`, or for any peer if negative, until `ready()`, which may have side effects. `peer` is a
  /// rank, or a function that returns one each time the slow path runs. @throws error as `slow_wait::check`,
  /// and exceptions of `ready`.
  template <class Peer, class Ready>
  void wait(Peer&& peer, call_id now, Ready&& ready) {
    constexpr bool changes = std::invocable<Peer&>;
    backoff pace{spin_};
    slow_wait watch{*this, first_awaited<changes>(peer), now};
    if (parts_.calls.has_observed_call()) [[unlikely]]
      watch.observe();
    while (!ready()) {
      if (!pace()) continue;
      if constexpr (changes) watch.expect(peer());
      pace.elapsed(watch.check());
    }
    watch.end();
  }

  /// Waits before this rank leaves, until `awaited()`, which may have side effects, returns no rank to wait
  /// for (-1: any rank). As in any wait, the rest of this thread's work progresses, and a long wait is
  /// reported. Ends early if the communicator fails or at the deadline; `awaited` must not return lost ranks.
  /// @throws exceptions of `awaited` and of a stall handler.
  void wait_to_leave(const std::function<std::optional<int>()>& awaited);

  /// Parks a nonblocking call here, which then waits for `peer`, or for the peer that `awaited(awaiter)`
  /// returns each time the slow path runs.
  void park(std::coroutine_handle<> frame, int peer, call_id now, bool (*ready)(void*), void* awaiter,
            int (*awaited)(void*) = nullptr) {
    parked_ = {frame, ready, awaiter, awaited, slow_wait{*this, peer, now}, nullptr};
  }
  [[nodiscard]] bool is_parked() const noexcept { return static_cast<bool>(parked_.frame); }
  void forget_parked() noexcept { parked_ = {}; }
  /// Lets the parked call continue as far as possible; with `attention::waits` first waits for the operation
  /// on which it is parked. Failures are raised inside the coroutine. @returns how long the call has waited
  /// if it stays parked, otherwise zero
  clock::duration advance(attention how);
  void rethrow_parked_failure() {
    if (parked_.failure) [[unlikely]]
      std::rethrow_exception(std::exchange(parked_.failure, nullptr));
  }

  /// Sets the number of exceptions that were already in flight when nonblocking calls were driven, and are
  /// not exceptions of these calls; `not_driven` if none is driven. Returns the previous value.
  int set_exceptions_outside(int exceptions) noexcept {
    return std::exchange(exceptions_outside_, exceptions);
  }
  static constexpr int not_driven = -1;
  /// Call when memory of a call is destroyed; `then`: number of exceptions in flight when the memory was
  /// made. If an exception of the call destroys it, peers lose access to all memory first. For a nonblocking
  /// call that is being driven, the number set by `set_exceptions_outside` replaces `then`.
  void withdraw_if_unwinding(int then) noexcept;

  // For slow waits.
  clock::duration check(watched_wait& w, attention how);
  void end(watched_wait& w) noexcept;
  [[nodiscard]] bool begin_observed() noexcept;
  [[nodiscard]] bool begin_long_observed(call_id now) noexcept;
  void end_observed(int peer, call_id now) noexcept;

 private:
  template <bool changes, class Peer>
  [[nodiscard]] static int first_awaited(const Peer& peer) noexcept {
    if constexpr (changes)
      return -1;
    else
      return peer;
  }

  parts parts_;
  std::unique_ptr<watchdog> watchdog_;
  bool spin_;
  int exceptions_outside_ = not_driven;
  parked_call parked_;
};

}  // namespace chorale::transport
