// SPDX-License-Identifier: Apache-2.0
#include "unmap_monitor.hpp"

#include <cerrno>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <mutex>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../core/helper_thread.hpp"
#include "../../core/over_forks.hpp"
#include "../../core/streams_reserved.hpp"

namespace chorale::transport {
namespace {

constexpr std::uint64_t required_events =
    UFFD_FEATURE_EVENT_UNMAP | UFFD_FEATURE_EVENT_REMAP | UFFD_FEATURE_EVENT_REMOVE;

int userfaultfd(int flags) noexcept {
  return static_cast<int>(
      detail::above_streams([&] { return syscall(SYS_userfaultfd, flags | O_CLOEXEC | O_NONBLOCK); }));
}

/// A userfaultfd with the required events, or -1.
int open_userfaultfd() noexcept {
  int fd = -1;
#ifdef UFFD_USER_MODE_ONLY
  // No faults are handled here, and without privileges the system permits only this mode.
  fd = userfaultfd(UFFD_USER_MODE_ONLY);
#endif
  // Kernels before 5.11 do not know UFFD_USER_MODE_ONLY.
  if (fd < 0) fd = userfaultfd(0);
  if (fd < 0) return -1;
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = required_events;
  if (ioctl(fd, UFFDIO_API, &api) != 0 || (api.features & required_events) != required_events) {
    close(fd);
    return -1;
  }
  return fd;
}

struct known_monitor {
  std::mutex mutex;
  std::weak_ptr<unmap_monitor> one;
};

[[gnu::constructor]] void share_no_monitor_with_children() {
  detail::of_process<known_monitor>::handle_forks();
}

}  // namespace

std::shared_ptr<unmap_monitor> unmap_monitor::shared() {
  auto& known = detail::of_process<known_monitor>::get();
  const std::lock_guard lock(known.mutex);
  auto monitor = known.one.lock();
  if (monitor) return monitor;
  const int fd = open_userfaultfd();
  if (fd < 0) return nullptr;
  monitor.reset(new unmap_monitor(fd));
  known.one = monitor;
  return monitor;
}

unmap_monitor::unmap_monitor(int fd)
    : fd_(fd), stop_fd_(detail::above_streams([&] { return eventfd(0, EFD_CLOEXEC); })) {
  thread_ = detail::start_helper_thread([this] { run(); });
}

unmap_monitor::~unmap_monitor() {
  if (!is_here()) {
    thread_.detach();
    return;
  }
  const std::uint64_t one = 1;
  static_cast<void>(!write(stop_fd_, &one, sizeof one));
  thread_.join();
  close(stop_fd_);
}

bool unmap_monitor::watch(std::uintptr_t first, std::size_t bytes) noexcept {
  uffdio_register request{};
  request.range.start = first;
  request.range.len = bytes;
  // Write protection that is never enabled causes no faults; any mode delivers the events.
  request.mode = UFFDIO_REGISTER_MODE_WP;
  return ioctl(fd_.get(), UFFDIO_REGISTER, &request) == 0;
}

void unmap_monitor::run() noexcept {
  pollfd fds[2] = {{fd_.get(), POLLIN, 0}, {stop_fd_, POLLIN, 0}};
  for (;;) {
    if (poll(fds, 2, -1) < 0 && errno != EINTR) return;
    if (fds[1].revents != 0) return;
    if ((fds[0].revents & POLLIN) != 0) read_events();
    if ((fds[0].revents & (POLLERR | POLLNVAL)) != 0) return;
  }
}

void unmap_monitor::read_events() noexcept {
  log_.note_all([this](unmapped_log::range& gone) {
    uffd_msg event;
    while (read(fd_.get(), &event, sizeof event) == static_cast<ssize_t>(sizeof event)) {
      if (event.event == UFFD_EVENT_REMOVE || event.event == UFFD_EVENT_UNMAP) {
        gone = {event.arg.remove.start, event.arg.remove.end - event.arg.remove.start};
        return true;
      }
      if (event.event == UFFD_EVENT_REMAP) {
        gone = {event.arg.remap.from, event.arg.remap.len};
        return true;
      }
    }
    return false;
  });
}

}  // namespace chorale::transport
