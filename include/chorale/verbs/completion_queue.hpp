// SPDX-License-Identifier: Apache-2.0
// Completion queue: reports finished work requests.
#pragma once

#include <span>

#include <chorale/verbs/completion_channel.hpp>
#include <chorale/verbs/device.hpp>
#include <chorale/verbs/handle.hpp>

namespace chorale::verbs {

/// Owns an ibv_cq. Close the queue pairs made with it first. Thread safety: as in verbs, several threads may
/// call `poll` and `request_notification`.
class completion_queue {
 public:
  /// A queue of at least `entries` (1 to the device's max_cqe). More than `entries()` unpolled completions
  /// overrun the queue and break it permanently. With `channel`, `request_notification` raises events there,
  /// by completion vector `vector`, modulo the number that the device has.
  completion_queue(const device& owner, int entries, completion_channel* channel = nullptr, int vector = 0);

  [[nodiscard]] ibv_cq* native() const noexcept { return handle_.get(); }
  [[nodiscard]] const driver& provider() const noexcept { return handle_.provider(); }
  /// The number of entries that the device granted. Precondition: not closed.
  [[nodiscard]] int entries() const noexcept { return handle_.get()->cqe; }

  /// Takes at most `room.size()` completions. @returns the filled part of `room`, empty if there are none. A
  /// completion may report a failure: check its `status` (`lib/verbs/text.hpp` puts it into words).
  /// @throws error if the queue itself is broken (overrun, device gone) or closed.
  std::span<ibv_wc> poll(std::span<ibv_wc> room) {
    ibv_cq* const queue = handle_.get();
    const int found = queue == nullptr ? -1 : ibv_poll_cq(queue, static_cast<int>(room.size()), room.data());
    if (found < 0) [[unlikely]]
      fail_poll(found);
    return room.first(static_cast<std::size_t>(found));
  }

  /// Arms the queue: the next completion (`solicited_only`: the next solicited or failed one) after this call
  /// raises one event in the channel. Poll again afterwards, since earlier completions raise none.
  void request_notification(bool solicited_only = false) {
    ibv_cq* const queue = handle_.get();
    const int failure = queue == nullptr ? -1 : ibv_req_notify_cq(queue, solicited_only ? 1 : 0);
    if (failure != 0) [[unlikely]]
      fail_request(failure);
  }

  /// Changes the number of entries; pending completions are kept. @throws error, EOPNOTSUPP or ENOSYS on
  /// devices that do not support it.
  void resize(int entries);

  /// Idempotent. @throws error (EBUSY) while queue pairs use it.
  void close();

 private:
  [[noreturn]] void fail_poll(int result) const;
  [[noreturn]] void fail_request(int result) const;

  handle<ibv_cq, &driver::destroy_cq> handle_;
};

}  // namespace chorale::verbs
