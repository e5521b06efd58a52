// SPDX-License-Identifier: Apache-2.0
// The awaitable of all operations of a transport.
#pragma once

#include <concepts>
#include <coroutine>
#include <exception>

#include <chorale/core/call.hpp>
#include <chorale/core/frame_arena.hpp>

namespace chorale::transport {

/// Counts awaitables where they are made; not copyable, since each is awaited once.
struct await_ticket {
  explicit await_ticket(frame_arena& arena) noexcept { arena.note_made(); }
  await_ticket(const await_ticket&) = delete;
  await_ticket& operator=(const await_ticket&) = delete;
};

/// A poll of a `waiting` whose awaited peer changes: both are called without arguments.
template <class Ready, class Peer>
struct polls_for_some {
  Ready ready;
  Peer peer;
  bool operator()() { return ready(); }
};
template <class Ready, class Peer>
polls_for_some(Ready, Peer) -> polls_for_some<Ready, Peer>;

/// The awaitable of a transport's operation: ready at once if `poll` returns true; otherwise it waits, or
/// parks if the call does (`call_id::parks`). `poll` is called without arguments or with transport, peer and
/// call, so that it need not store them again; it may have side effects and may throw. It may have a
/// `result`, called without arguments or with the transport and the peer, and a `peer()`, called while
/// waiting, if the awaited peer changes. It is awaited once, where it is made. One that is never awaited
/// fails the call, since its operation did not happen; a failed await fails its call even if the algorithm
/// continues.
template <class Net, class Poll>
struct [[nodiscard]] waiting {
  Net& net;
  int peer;
  call_id now;
  Poll poll;
  [[no_unique_address]] await_ticket ticket{net.frames()};

  bool await_ready() {
    net.frames().note_awaited();
    try {
      if (attempt()) [[likely]]
        return true;
      return wait();
    } catch (...) {
      // Before the algorithm's frames are unwound, since peers may be writing into its memory.
      net.withdraw_after(std::current_exception());
      throw;
    }
  }
  void await_suspend(std::coroutine_handle<> frame) {
    const auto ready = [](void* self) { return static_cast<waiting*>(self)->attempt(); };
    if constexpr (requires { poll.peer(); })
      net.park(frame, awaited(), now, ready, this,
               [](void* self) { return static_cast<waiting*>(self)->awaited(); });
    else
      net.park(frame, peer, now, ready, this);
  }
  auto await_resume() {
    net.rethrow_parked_failure();
    if constexpr (requires { poll.result(net, peer); })
      return poll.result(net, peer);
    else if constexpr (requires { poll.result(); })
      return poll.result();
  }

  /// Awaiting a stored awaitable is an error: waits in between would count it as forgotten.
  template <bool is_awaited_where_it_is_made = false>
  waiting& operator co_await() & {
    static_assert(is_awaited_where_it_is_made,
                  "chorale: an operation of a transport is awaited where it is made, as in co_await "
                  "net.send(...), and not kept for later");
    return *this;
  }

 private:
  /// Not inline, since otherwise the fast path would save the registers that only a wait needs.
  [[gnu::noinline]] bool wait() {
    if (now.parks()) return false;
    if constexpr (requires { poll.peer(); })
      net.wait([this] { return awaited(); }, now, [this] { return attempt(); });
    else
      net.wait(peer, now, [this] { return attempt(); });
    return true;
  }
  int awaited() {
    if constexpr (requires { poll.peer(); })
      return poll.peer();
    else
      return peer;
  }
  bool attempt() {
    if constexpr (std::invocable<Poll&, Net&, int, call_id>)
      return poll(net, peer, now);
    else
      return poll();
  }
};
template <class Net, class Poll>
waiting(Net&, int, call_id, Poll) -> waiting<Net, Poll>;

}  // namespace chorale::transport
