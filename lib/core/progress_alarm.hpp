// SPDX-License-Identifier: Apache-2.0
// The descriptor that tells an event loop to call `progress`.
#pragma once

#include <cerrno>
#include <chrono>
#include <ctime>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <utility>

#include <chorale/core/clock.hpp>
#include <chorale/core/error.hpp>
#include <chorale/core/uncancellable.hpp>

#include "streams_reserved.hpp"
#include "unique_fd.hpp"

namespace chorale {

/// A descriptor that is readable at once, or after a pause, until the next change. Each change is an event
/// for edge-triggered waiters, too.
class progress_alarm {
 public:
  /// @throws error with an errno if there is no descriptor left.
  progress_alarm()
      : at_once_(detail::above_streams([] { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); })),
        later_(detail::above_streams(
            [] { return timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC); })),
        either_(detail::above_streams([] { return epoll_create1(EPOLL_CLOEXEC); })) {
    for (const auto* file : {&at_once_, &later_, &either_})
      if (file->get() < 0) refuse();
    for (const int file : {at_once_.get(), later_.get()}) {
      epoll_event readable{};
      readable.events = EPOLLIN;
      if (epoll_ctl(either_.get(), EPOLL_CTL_ADD, file, &readable) != 0) refuse();
    }
  }
  [[nodiscard]] int descriptor() const noexcept { return either_.get(); }

  void ring_after(clock::duration pause) noexcept {
    const detail::uncancellable ends_first;
    // A timer interrupt, above all in a virtual machine, takes longer than such a pause.
    if (pause < std::chrono::microseconds{10}) {
      is_ringing_ = true;
      eventfd_write(at_once_.get(), 1);
    } else {
      silence();
      set_timer(pause);
      is_set_ = true;
    }
  }
  void silence() noexcept {
    const detail::uncancellable ends_first;
    eventfd_t count = 0;
    if (std::exchange(is_ringing_, false)) eventfd_read(at_once_.get(), &count);
    if (std::exchange(is_set_, false)) set_timer({});
  }

 private:
  [[noreturn]] static void refuse() {
    throw_errno(
        errno, "progress_descriptor", "this thread's event loop",
        "it takes three file descriptors: ulimit -n; without them, call progress() in turn with the loop");
  }
  void set_timer(clock::duration pause) const noexcept {
    itimerspec when{};  // zero stops it
    when.it_value.tv_nsec = static_cast<long>(std::chrono::nanoseconds{pause}.count());
    timerfd_settime(later_.get(), 0, &when, nullptr);
  }

  detail::unique_fd at_once_;
  detail::unique_fd later_;
  detail::unique_fd either_;
  bool is_ringing_ = false;
  bool is_set_ = false;
};

}  // namespace chorale
