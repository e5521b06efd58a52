// SPDX-License-Identifier: Apache-2.0
// Progress of a thread's nonblocking calls by a loop of the program.
#pragma once

namespace chorale {

/// Advances all nonblocking calls that this thread has started, on all its communicators, as far as possible
/// without waiting; calls the functions of `while_waiting`; then resumes the coroutines whose `co_await` of a
/// request is over (`chorale/awaiting.hpp`). For event loops, and for programs that compute for long between
/// a call and its wait. Failures are reported by the requests. Where ranks share cores it yields to others
/// if calls are incomplete. An idle communicator has nothing to advance; `transport().progress()` lets one
/// answer peers that want a connection.
/// @returns whether work of this thread is outstanding, as functions of `while_waiting` return it: a call is
/// incomplete, a coroutine still awaits a request, or such a function said so. False: nothing happens until
/// the thread starts a call. In a function of `while_waiting`, where it does nothing: true.
/// @throws only exceptions that leave a resumed coroutine, which depends on the coroutine's type.
bool progress();

/// A file descriptor that is readable when this thread should call `progress`, for `epoll` and the like.
/// Watch it for reading, level-triggered or edge-triggered, and call `progress` whenever it is readable;
/// `progress` makes it unreadable again. Never read, write or close it: it belongs to this thread, each call
/// of which returns the same one, and is closed when the thread ends. (A `dup` of it may be closed.)
///
/// It is essentially a timer, since messages arrive by RDMA without notification. It becomes readable when it
/// is made, when this thread starts a call and, as long as `progress` returns true, some time after each
/// `progress`: after 1/32 of the shortest time that any of the calls has been at its current wait, but at
/// most 1 ms, and at once if that is less than 10 us. So spurious wake-ups are normal, and no wake-up is
/// lost, not even if a blocking call completes the request meanwhile. While nothing is outstanding there are
/// no wake-ups. Messages that concern no call of this thread, such as notifications of windows, do not make
/// it readable.
///
/// Cost: until a thread has called this, none; then three descriptors, one to three system calls in each
/// `progress` that finds work, and one in the start of a call of a communicator that has no other. A child of
/// `fork()` inherits none and asks for its own.
/// @throws error a `std::generic_category` errno if there is no descriptor left; errc::unsupported in virtual
/// time.
[[nodiscard]] int progress_descriptor();

}  // namespace chorale
