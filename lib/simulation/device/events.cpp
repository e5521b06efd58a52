// SPDX-License-Identifier: Apache-2.0
#include "events.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/eventfd.h>

#include "fabric.hpp"
#include "queue_pair.hpp"

namespace chorale::simulation::device {
namespace {

constexpr std::chrono::seconds patience{30};

/// The count of delivered events about an object; nullptr for events of the port.
event_count* count_of(const ibv_async_event& event) noexcept {
  event_count* count = nullptr;
  verbs::with_object_of<completion_queue, shared_receive_queue, queue_pair>(
      event, [&](auto& object) { count = &object.asynchronous; });
  return count;
}

}  // namespace

void raise(context& c, const ibv_async_event& event) {
  c.events.push_back(event);
  count_up(c.async_fd);
  scheduler& time = c.nic->owner().time();
  time.notify(c.waiting);
  c.nic->owner().touch(c.rank);
  time.signal(c.rank);
}

int make_event_file() noexcept {
  return eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
}

void count_up(int file) noexcept {
  static_cast<void>(eventfd_write(file, 1));
}

void count_down(int file) noexcept {
  eventfd_t one = 0;
  static_cast<void>(eventfd_read(file, &one));
}

bool is_nonblocking(int file) noexcept {
  return (fcntl(file, F_GETFL) & O_NONBLOCK) != 0;
}

void raise(queue_pair& about, ibv_event_type type) {
  ibv_async_event event{};
  event.element.qp = &about;
  event.event_type = type;
  raise(context::of(about.context), event);
}

void raise(completion_queue& about, ibv_event_type type) {
  ibv_async_event event{};
  event.element.cq = &about;
  event.event_type = type;
  raise(context::of(about.context), event);
}

void raise(shared_receive_queue& about, ibv_event_type type) {
  ibv_async_event event{};
  event.element.srq = &about;
  event.event_type = type;
  raise(context::of(about.context), event);
}

bool settle_events(context& c, const void* about, const event_count& asynchronous,
                   const event_count* completions) {
  const std::size_t before = c.events.size();
  c.events.erase_if(
      [&](const ibv_async_event& e) { return count_of(e) != nullptr && e.element.qp == about; });
  for (std::size_t i = c.events.size(); i < before; ++i) count_down(c.async_fd);
  scheduler& time = c.nic->owner().time();
  const auto settled = [&] {
    return asynchronous.settled() && (completions == nullptr || completions->settled());
  };
  for (const instant end = time.now() + patience; !settled(); time.give_way())
    if (time.current() == nullptr || time.now() >= end) return false;
  return true;
}

int get_async_event(ibv_context* base, ibv_async_event* event) noexcept {
  context& c = context::of(base);
  scheduler& time = c.nic->owner().time();
  try {
    time.settle();
    while (c.events.empty()) {
      if (is_nonblocking(c.async_fd)) {
        errno = EAGAIN;
        return -1;
      }
      time.wait(c.waiting, "an asynchronous event of sim0");
    }
  } catch (...) {  // the thread would wait for ever
    errno = EDEADLK;
    return -1;
  }
  *event = c.events.pop_front();
  count_down(c.async_fd);
  if (event_count* count = count_of(*event)) ++count->delivered;
  return 0;
}

void ack_async_event(ibv_async_event* event) noexcept {
  if (event_count* count = count_of(*event)) ++count->acknowledged;
}

}  // namespace chorale::simulation::device
