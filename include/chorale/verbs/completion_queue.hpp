// Completion queue: where finished work requests are reported.
#pragma once

#include <span>

#include <chorale/verbs/completion_channel.hpp>
#include <chorale/verbs/device.hpp>
#include <chorale/verbs/handle.hpp>

namespace chorale::verbs {

/// Owns an ibv_cq. Queue pairs made with it must be closed before. Thread safety: as the verbs', `poll` and
/// `request_notification` may be called from several threads.
class completion_queue {
 public:
  /// A queue of at least `entries` (1 up to the device's max_cqe). More completions than `entries()` that
  /// are not polled break it for good. With `channel`, `request_notification` raises events there.
  completion_queue(const device& owner, int entries, completion_channel* channel = nullptr);

  [[nodiscard]] ibv_cq* native() const noexcept { return handle_.get(); }
  [[nodiscard]] const driver& provider() const noexcept { return handle_.provider(); }
  /// Entries it really has. Precondition: not closed.
  [[nodiscard]] int entries() const noexcept { return handle_.get()->cqe; }

  /// Takes completions, at most `room.size()`. @returns the filled part of `room`, empty if there are none. A
  /// completion may report a failure: look at its `status` (`lib/verbs/work_completion.hpp` puts it into
  /// words).
  /// @throws error if the queue itself is broken (overrun, device gone) or closed.
  std::span<ibv_wc> poll(std::span<ibv_wc> room) {
    ibv_cq* const queue = handle_.get();
    const int found = queue == nullptr ? -1 : ibv_poll_cq(queue, static_cast<int>(room.size()), room.data());
    if (found < 0) [[unlikely]]
      fail_poll(found);
    return room.first(static_cast<std::size_t>(found));
  }

  /// The next completion (`solicited_only`: the next solicited or failed one) that is added after this call
  /// raises one event in the channel. Poll once more afterwards: earlier completions raise none.
  void request_notification(bool solicited_only = false) {
    ibv_cq* const queue = handle_.get();
    const int failure = queue == nullptr ? -1 : ibv_req_notify_cq(queue, solicited_only ? 1 : 0);
    if (failure != 0) [[unlikely]]
      fail_request(failure);
  }

  /// Changes the number of entries; those that wait stay. @throws error, EOPNOTSUPP or ENOSYS on devices that
  /// cannot.
  void resize(int entries);

  /// Second call does nothing. @throws error (EBUSY) while queue pairs use it.
  void close();

 private:
  [[noreturn]] void fail_poll(int result) const;
  [[noreturn]] void fail_request(int result) const;

  handle<ibv_cq, &driver::destroy_cq> handle_;
};

}  // namespace chorale::verbs
