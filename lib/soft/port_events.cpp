// SPDX-License-Identifier: Apache-2.0
// Events that a profile schedules: the port goes down and comes up, the device fails, its tables change.
#include <algorithm>

#include "queue_pair.hpp"

namespace chorale::soft {

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
