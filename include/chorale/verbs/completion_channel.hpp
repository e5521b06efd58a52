// Completion channel: a file descriptor that wakes a thread when a completion arrives.
#pragma once

#include <chorale/core/lean_chrono.hpp>
#include <chorale/verbs/device.hpp>
#include <chorale/verbs/handle.hpp>

namespace chorale::verbs {

/// Owns an ibv_comp_channel. Completion queues made with it must be closed before. Use: arm the queue
/// (`completion_queue::request_notification`), poll it once more, `wait_for`, `get_event`, arm, poll.
/// Thread safety: one thread at a time waits and takes events.
class completion_channel {
 public:
  explicit completion_channel(const device& owner);

  [[nodiscard]] ibv_comp_channel* native() const noexcept { return handle_.get(); }
  [[nodiscard]] const driver& provider() const noexcept { return handle_.provider(); }
  /// For poll(2), epoll, an event loop: readable when an event is there. Precondition: not closed.
  [[nodiscard]] int fd() const noexcept { return handle_.get()->fd; }

  /// True when an event is there, false when `longest` passed without. Zero looks without waiting; signals
  /// do not end the wait.
  [[nodiscard]] bool wait_for(std::chrono::milliseconds longest) const;

  /// Takes an event and returns the queue it is for (compare with `completion_queue::native()`). While there
  /// is none it blocks, or returns nullptr after `set_nonblocking`: call it after `wait_for` or `fd()` said
  /// that there is. The event is acknowledged at once, so that destroying the queue never waits for it.
  ibv_cq* get_event() const;
  /// From now on `get_event` never waits: an event may be for a queue that is gone, and then counts for none.
  void set_nonblocking();

  /// Second call does nothing. @throws error (EBUSY) while completion queues use it.
  void close();

 private:
  [[nodiscard]] ibv_comp_channel* opened(const char* call) const;

  handle<ibv_comp_channel, &driver::destroy_comp_channel> handle_;
};

}  // namespace chorale::verbs
