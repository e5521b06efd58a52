// What moves a communicator on: the loop of a blocking wait, and the call that is parked.
#pragma once

#include <concepts>
#include <coroutine>
#include <exception>
#include <memory>
#include <utility>

#include <chorale/core/attention.hpp>
#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/transport/call_record.hpp>
#include <chorale/transport/control_channel.hpp>
#include <chorale/transport/endpoint_user.hpp>
#include <chorale/transport/entry.hpp>
#include <chorale/transport/failures.hpp>
#include <chorale/transport/multicasts.hpp>
#include <chorale/transport/parked_call.hpp>
#include <chorale/transport/vigil.hpp>

namespace chorale::transport {

class watchdog;

/// The progress of one communicator on one rank. A blocking call waits inside its awaits; a nonblocking one
/// parks there, and goes on when it is advanced. One thread at a time.
class progress_engine {
 public:
  /// What it moves. All of it outlives it.
  struct parts {
    control_channel& channel;
    multicasts& groups;
    endpoint_user& user;
    failures& failed;
    call_record& calls;
    const occupancy& use;
  };
  /// `looks_after`: the slow path of its waits. `spin`: each rank has a core of its own.
  progress_engine(const parts& p, std::unique_ptr<watchdog> looks_after, bool spin);
  progress_engine(const progress_engine&) = delete;
  progress_engine& operator=(const progress_engine&) = delete;
  ~progress_engine();

  /// Reads what came by datagram and looks after completions. @throws error if a peer is lost.
  void progress();
  /// The part of a slow path that concerns no single peer: progress, failures that others report, other calls
  /// of this thread. @throws error if a failure was reported or a peer is lost.
  void look_around();

  [[nodiscard]] backoff pace() const noexcept { return backoff{spin_}; }

  /// Waits for `peer`, or any if that is negative, until `ready()`, which may act. `peer` is a rank, or what
  /// gives one each time that the wait is looked after. @throws error as `vigil::look`, and what `ready`
  /// throws.
  template <class Peer, class Ready>
  void wait(Peer&& peer, call_id now, Ready&& ready) {
    constexpr bool changes = std::invocable<Peer&>;
    backoff pace{spin_};
    vigil watch{*this, first_awaited<changes>(peer), now};
    if (parts_.calls.is_observed()) [[unlikely]]
      watch.observe();
    while (!ready()) {
      if (!pace()) continue;
      if constexpr (changes) watch.expect(peer());
      pace.elapsed(watch.look());
    }
    watch.end();
  }

  /// A nonblocking call stands still here, and waits for `peer`, or for whom `awaited(awaiter)` gives each
  /// time that it is looked after.
  void park(std::coroutine_handle<> frame, int peer, call_id now, bool (*ready)(void*), void* awaiter,
            int (*awaited)(void*) = nullptr) {
    parked_ = {frame, ready, awaiter, awaited, vigil{*this, peer, now}, nullptr};
  }
  [[nodiscard]] bool is_parked() const noexcept { return static_cast<bool>(parked_.frame); }
  void forget_parked() noexcept { parked_ = {}; }
  /// Lets the parked call go on as far as it gets; one that `waits` waits for what it is parked at, once. A
  /// failure is raised inside the coroutine.
  void advance(attention how);
  void rethrow_parked_failure() {
    if (parked_.failure) [[unlikely]]
      std::rethrow_exception(std::exchange(parked_.failure, nullptr));
  }

  /// From now on nonblocking calls are driven from where so many exceptions are in flight, which are none of
  /// theirs; or, if that is `not_driven`, none is. Returns what held before.
  int drive_among(int exceptions) noexcept { return std::exchange(exceptions_outside_, exceptions); }
  static constexpr int not_driven = -1;
  /// To be called where memory ends that was made in a call when `then` exceptions were in flight: if an
  /// exception of the call ends it, all memory is put out of the peers' reach first. A nonblocking call may
  /// have been driven from elsewhere then.
  void let_go_if_unwinding(int then) noexcept;

  // For vigils.
  clock::duration look(watched_wait& w, attention how);
  void end(watched_wait& w) noexcept;
  void begin_observed() noexcept;
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
