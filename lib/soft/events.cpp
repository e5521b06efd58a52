// SPDX-License-Identifier: Apache-2.0
// Asynchronous events: one queue per context, and one byte on its socket per entry.
#include <algorithm>
#include <cerrno>
#include <sys/socket.h>
#include <unistd.h>

#include "../core/timed_wait.hpp"
#include "device.hpp"
#include "queue_pair.hpp"

namespace chorale::soft {
namespace {

constexpr std::chrono::seconds settle_patience{30};

/// The count of events about the event's object; nullptr for events of the port.
event_count* count_of(const ibv_async_event& event, context** about = nullptr) noexcept {
  event_count* count = nullptr;
  verbs::with_object_of<completion_queue, shared_receive_queue, queue_pair>(event, [&](auto& object) {
    count = &object.asynchronous;
    if (about != nullptr) *about = &context::of(object.context);
  });
  return count;
}

}  // namespace

void raise_event(context& c, const ibv_async_event& event) noexcept {
  try {
    const std::lock_guard lock(c.events_mutex);
    const char byte = 0;
    c.async_events.push_back(event);
    if (send(c.async_write, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL) != 1) c.async_events.pop_back();
  } catch (...) {  // out of memory: the event is lost, but not the state that it reports
  }
}

bool settle_events(context& c, const void* element, const event_count& asynchronous,
                   const event_count* completions) noexcept {
  if (c.owner->abandoned())
    return true;  // the parent's: fork() may have copied the lock while another thread held it
  std::unique_lock lock(c.events_mutex);
  const auto about = [&](const ibv_async_event& e) {
    return count_of(e) != nullptr && e.element.qp == element;
  };
  const std::size_t before = c.async_events.size();
  std::erase_if(c.async_events, about);
  char byte = 0;
  for (std::size_t i = c.async_events.size(); i < before; ++i)
    (void)recv(c.verbs()->async_fd, &byte, 1, MSG_DONTWAIT);
  c.settling.fetch_add(1);
  const bool settled = wait_for<false>(c.acknowledged, lock, settle_patience, [&] {
    return asynchronous.settled() && (completions == nullptr || completions->settled());
  });
  c.settling.fetch_sub(1);
  return settled;
}

int get_async_event(ibv_context* base, ibv_async_event* event) noexcept {
  context& c = context::of(base);
  if (c.owner->abandoned()) {  // the child must not take the parent's events
    errno = EINVAL;
    return -1;
  }
  for (;;) {
    char byte = 0;
    if (read(base->async_fd, &byte, 1) != 1) return -1;
    const std::lock_guard lock(c.events_mutex);
    if (c.async_events.empty()) continue;  // its object was destroyed meanwhile
    *event = c.async_events.front();
    c.async_events.pop_front();
    if (event_count* count = count_of(*event)) ++count->delivered;
    return 0;
  }
}

void ack_async_event(ibv_async_event* event) noexcept {
  context* c = nullptr;
  event_count* const count = count_of(*event, &c);
  if (count == nullptr || c->owner->abandoned()) return;
  const std::lock_guard lock(c->events_mutex);
  ++count->acknowledged;
  c->acknowledged.notify_all();
}

int process::until_event() const noexcept {
  const std::int64_t opened = opened_ns_.load(std::memory_order_relaxed);
  if (opened == 0 || events_past_ == profile_.events.size()) return -1;
  const std::int64_t after = std::chrono::nanoseconds{profile_.events[events_past_].after}.count();
  constexpr std::int64_t millisecond = 1'000'000;
  return static_cast<int>(
      std::max<std::int64_t>(0, (opened + after - now_ns() + millisecond - 1) / millisecond));
}

void process::begin_events() noexcept {
  std::int64_t none = 0;
  if (!profile_.events.empty() && opened_ns_.compare_exchange_strong(none, now_ns())) wake_service();
}

void process::let_events_happen() noexcept {
  while (until_event() == 0) happen(profile_.events[events_past_++].what);
}

void process::happen(ibv_event_type what) noexcept {
  const bool falls = what == IBV_EVENT_PORT_ERR || what == IBV_EVENT_DEVICE_FATAL;
  const std::lock_guard lock(objects_mutex_);
  if (falls || (what == IBV_EVENT_PORT_ACTIVE && !failed())) {
    own().port_down.store(falls ? 1 : 0);
    for (queue_pair* qp : queue_pairs_) {
      const lock_guard sending(qp->record->send_lock, lock_name_);
      if (sending && qp->record->destination.load() != 0) attach(*qp);
    }
  }
  if (what == IBV_EVENT_DEVICE_FATAL) {
    failed_.store(true);
    for (queue_pair* qp : queue_pairs_) fail_responder(self_, *qp->record, IBV_EVENT_QP_FATAL);
  }
  ibv_async_event event{};
  event.event_type = what;
  if (what != IBV_EVENT_DEVICE_FATAL) event.element.port_num = 1;
  for (context* c : open_contexts_) raise_event(*c, event);
}

}  // namespace chorale::soft
