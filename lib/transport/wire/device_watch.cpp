// SPDX-License-Identifier: Apache-2.0
#include "device_watch.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <system_error>

#include <fmt/format.h>

#include <chorale/core/error.hpp>

#include "../../verbs/async_event.hpp"

namespace chorale::transport {
namespace {

/// Other events of queues concern one transport, which learns of them by completions; a failed completion
/// queue yields none.
bool matters(ibv_event_type what) noexcept {
  switch (what) {
    case IBV_EVENT_DEVICE_FATAL:
    case IBV_EVENT_PORT_ERR:
    case IBV_EVENT_LID_CHANGE:
    case IBV_EVENT_GID_CHANGE:
    case IBV_EVENT_PKEY_CHANGE:
    case IBV_EVENT_CQ_ERR:
      return true;
    default:
      return false;
  }
}

}  // namespace

device_watch::device_watch(const verbs::device& device) noexcept : device_(&device) {
  // Destroying a verbs object discards its events, so that a read may find none although one was announced.
  if (const int flags = fcntl(fd(), F_GETFL); flags >= 0)
    static_cast<void>(fcntl(fd(), F_SETFL, flags | O_NONBLOCK));
}

int device_watch::fd() const noexcept {
  return device_->native()->async_fd;
}

bool device_watch::take_events() {
  if (fd() < 0) return true;
  // Not a mutex: another flow of control may be reading, and a simulated rank yields while it reads.
  if (is_taking_.exchange(true)) return false;
  struct taken {
    std::atomic<bool>& flag;
    ~taken() { flag = false; }
  } const at_end{is_taking_};
  while (const auto event = verbs::next_async_event(*device_, std::chrono::milliseconds{0})) {
    const auto now = clock::now();
    const std::lock_guard hold{mutex_};
    const auto is_down = [&](const report& r) {
      return r.what == IBV_EVENT_PORT_ERR && r.port == event->port;
    };
    if (event->type == IBV_EVENT_PORT_ACTIVE) std::erase_if(reports_, is_down);
    if (!matters(event->type)) continue;
    std::erase_if(reports_, [&](const report& r) { return r.what == event->type && r.port == event->port; });
    reports_.push_back({event->type, event->port, now, event->text});
  }
  return true;
}

void device_watch::look() {
  if (!take_events()) clock::give_way();
  const std::lock_guard hold{mutex_};
  for (const report& r : reports_)
    if (r.what == IBV_EVENT_DEVICE_FATAL)
      throw error(std::make_error_code(std::errc::no_such_device),
                  fmt::format("{}; see the kernel's log", r.text));
}

std::string device_watch::trouble() noexcept {
  std::string text;
  try {
    static_cast<void>(take_events());
    const auto now = clock::now();
    const std::lock_guard hold{mutex_};
    for (const report& r : reports_)
      text += fmt::format("{}{}, {:.1f} s ago", text.empty() ? "" : "; ", r.text,
                          std::chrono::duration<double>(now - r.when).count());
  } catch (...) {
    // Without readable events there is no error to report.
  }
  return text;
}

}  // namespace chorale::transport
