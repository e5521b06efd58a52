// SPDX-License-Identifier: Apache-2.0
// Completion channel: a file descriptor that wakes a thread when a completion arrives.
#pragma once

#include <chrono>

#include <chorale/verbs/device.hpp>
#include <chorale/verbs/handle.hpp>

namespace chorale::verbs {

/// Owns an ibv_comp_channel. Close the completion queues made with it first. Usage: arm the queue
/// (`completion_queue::request_notification`), poll it again, `wait_for`, `get_event`, arm, poll. Thread
/// safety: one thread at a time waits and takes events.
class completion_channel {
 public:
  explicit completion_channel(const device& owner);

  [[nodiscard]] ibv_comp_channel* native() const noexcept { return handle_.get(); }
  [[nodiscard]] const driver& provider() const noexcept { return handle_.provider(); }
  /// For poll(2), epoll or an event loop: readable when an event is pending. Precondition: not closed.
  [[nodiscard]] int fd() const noexcept { return handle_.get()->fd; }

  /// True when an event is pending, false after `longest`. Zero checks without waiting; signals do not end
  /// the wait.
  [[nodiscard]] bool wait_for(std::chrono::milliseconds longest) const;

  /// Reads an event and returns its queue (compare with `completion_queue::native()`). Without a pending
  /// event it blocks, or returns nullptr after `set_nonblocking`: call it once `wait_for` or `fd()` indicates
  /// one. The event is acknowledged at once, so that destroying the queue never waits for it.
  ibv_cq* get_event() const;
  /// Makes `get_event` never wait; it ignores events of queues that no longer exist.
  void set_nonblocking();

  /// Idempotent. @throws error (EBUSY) while completion queues use it.
  void close();

 private:
  [[nodiscard]] ibv_comp_channel* opened(const char* call) const;

  handle<ibv_comp_channel, &driver::destroy_comp_channel> handle_;
};

}  // namespace chorale::verbs
