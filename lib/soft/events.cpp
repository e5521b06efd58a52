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

/// The counter of deliveries about the event's object; nullptr for events of the port.
event_count* count_of(const ibv_async_event& event) noexcept {
  switch (event.event_type) {
    case IBV_EVENT_CQ_ERR:
      return &static_cast<completion_queue*>(event.element.cq)->asynchronous;
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED:
      return &static_cast<shared_receive_queue*>(event.element.srq)->asynchronous;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
      return &static_cast<queue_pair*>(event.element.qp)->asynchronous;
    default:
      return nullptr;
  }
}

context* context_of(const ibv_async_event& event) noexcept {
  switch (event.event_type) {
    case IBV_EVENT_CQ_ERR:
      return &context::of(event.element.cq->context);
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED:
      return &context::of(event.element.srq->context);
    default:
      return count_of(event) == nullptr ? nullptr : &context::of(event.element.qp->context);
  }
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
  const bool settled = wait_for(c.acknowledged, lock, settle_patience, [&] {
    return asynchronous.delivered == asynchronous.acknowledged &&
           (completions == nullptr || completions->delivered == completions->acknowledged);
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
  context* c = context_of(*event);
  if (c == nullptr || c->owner->abandoned()) return;
  const std::lock_guard lock(c->events_mutex);
  ++count_of(*event)->acknowledged;
  c->acknowledged.notify_all();
}

}  // namespace chorale::soft
