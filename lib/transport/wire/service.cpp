// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <poll.h>
#include <span>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <chorale/core/clock.hpp>
#include <chorale/core/uncancellable.hpp>
#include <chorale/transport/wire/service.hpp>

#include "../../core/helper_thread.hpp"
#include "../../core/streams_reserved.hpp"

namespace chorale::transport {

void service_lock::give_way_until_free() noexcept {
  while (!is_free()) clock::give_way();
}

namespace {

/// Pause before the service thread checks again while the rank's own thread is active.
constexpr int pause_milliseconds = 1;
/// Longest sleep without an event, so that a lost event costs only time.
constexpr int longest_sleep_milliseconds = 250;
/// Pause between polls while a queue cannot be armed.
constexpr int pause_without_events_milliseconds = 10;
constexpr int most_failures = 100;

/// As poll(2), by the thread's clock, real or simulated.
int poll_files(std::span<pollfd> places, int milliseconds) {
  if (!clock::is_replaced()) return ::poll(places.data(), places.size(), milliseconds);
  const auto end = clock::now() + std::chrono::milliseconds{milliseconds};
  for (;;) {
    const int ready = ::poll(places.data(), places.size(), 0);
    if (ready != 0 || clock::now() >= end) return ready;
    clock::await_change(end);
  }
}

}  // namespace

service::service(verbs::completion_channel& channel, service_lock& lock, service_policy policy, work w)
    : channel_(&channel),
      lock_(&lock),
      policy_(policy),
      work_(std::move(w)),
      stop_(detail::above_streams([&] { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); })) {
  if (stop_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd of the service thread");
  try {
    channel_->set_nonblocking();
    thread_ = start_helper([this] { run(); });
  } catch (...) {
    ::close(stop_);
    throw;
  }
}

// The join needs no time limit: the descriptor ends the thread's sleeps, the channel never blocks, and the
// thread waits for the lock, which the caller does not hold, only to report its failure.
service::~service() {
  const detail::uncancellable ends_first;
  const std::uint64_t one = 1;
  while (::write(stop_, &one, sizeof one) < 0 && errno == EINTR) {
  }
  clock::changed();
  thread_->join();
  ::close(stop_);
}

bool service::stopped(int milliseconds) {
  pollfd places[]{{stop_, POLLIN, 0}, {work_.reports, POLLIN, 0}};
  static_cast<void>(poll_files(places, milliseconds));
  return places[0].revents != 0 || (places[1].revents != 0 && !look());
}

bool service::look() {
  try {
    work_.look();
    return true;
  } catch (...) {
    give_up();
    return false;
  }
}

void service::run() {
  if (policy_ == service_policy::polling)
    poll_always();
  else
    sleep_for_events();
}

bool service::serve_once() {
  const std::unique_lock hold{*lock_, std::try_to_lock};
  if (!hold.owns_lock()) return false;
  work_.serve();
  return true;
}

void service::give_up() {
  const std::lock_guard hold{*lock_};
  work_.fail(std::current_exception());
}

void service::poll_always() {
  while (!stopped(0)) {
    if (!serve_once() && stopped(pause_milliseconds)) return;
    clock::give_way();
  }
}

void service::sleep_for_events() {
  for (int failures = 0;;) {
    try {
      work_.arm();
      failures = 0;
    } catch (...) {
      if (++failures == most_failures) return give_up();
    }
    // Datagrams that arrived before the queue was armed raise no event.
    while (!serve_once()) {
      if (stopped(pause_milliseconds)) return;
    }
    pollfd places[]{{stop_, POLLIN, 0}, {channel_->fd(), POLLIN, 0}, {work_.reports, POLLIN, 0}};
    const int ready =
        poll_files(places, failures == 0 ? longest_sleep_milliseconds : pause_without_events_milliseconds);
    if (places[0].revents != 0 || (places[2].revents != 0 && !look())) return;
    try {
      if (ready < 0 && errno != EINTR)
        throw std::system_error(errno, std::generic_category(), "poll of the service thread");
      if (places[1].revents != 0) static_cast<void>(channel_->get_event());
    } catch (...) {
      return give_up();
    }
  }
}

}  // namespace chorale::transport
