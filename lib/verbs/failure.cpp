// SPDX-License-Identifier: Apache-2.0
#include "failure.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <poll.h>

#include <fmt/format.h>

#include <chorale/core/clock.hpp>
#include <chorale/core/error.hpp>

#include "diagnosis.hpp"

namespace chorale::verbs {
namespace {

std::string usual_remedy(int errnum) {
  switch (errnum) {
    case ENOMEM:
      return "the device or the memory that may be locked is exhausted: " + memlock_remedy();
    case EMFILE:
    case ENFILE:
      return "no file descriptors are left: raise the limit of open files (ulimit -n, or LimitNOFILE and "
             "fs.file-max)";
    case EACCES:
    case EPERM:
      return "this user may not use the device: give it read and write access to /dev/infiniband/*, often by "
             "a group 'rdma'; in a container pass --device=/dev/infiniband";
    case EBUSY:
      return "objects made from it are still there: close them first";
    case EIO:
    case ENODEV:
      return "the device was removed or reset: see the kernel's log";
    case ENOSYS:
    case EOPNOTSUPP:
      return "this device cannot do that";
    default:
      return {};
  }
}

}  // namespace

std::string_view device_name(const ibv_context* context) noexcept {
  return context == nullptr || context->device == nullptr ? "?" : context->device->name;
}

void fail(int errnum, std::string_view call, std::string_view object, std::string_view special) {
  const int known = errnum == 0 ? EIO : errnum;
  throw_errno(known, call, object, special.empty() ? usual_remedy(known) : std::string{special});
}

void fail_closed(std::string_view call, std::string_view what) {
  throw error(errc::invalid_argument, fmt::format("{}: the {} is closed or was moved from", call, what));
}

bool wait_readable(int fd, std::chrono::milliseconds longest, std::string_view object) {
  // Longer waits could overflow the clock, so the wait is split into days.
  constexpr std::chrono::milliseconds day{24 * 3600 * 1000};
  const bool endless = longest > 365 * day;
  const auto end = clock::now() + (endless ? 365 * day : longest);
  for (;;) {
    // Rounded up, so that the last round does not spin with a timeout of zero.
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - clock::now());
    const auto step = std::clamp(left, std::chrono::milliseconds{0}, day);
    pollfd wanted{.fd = fd, .events = POLLIN, .revents = 0};
    // In simulated time, no other rank runs while this thread sleeps in the kernel.
    const int ready = ::poll(&wanted, 1, clock::is_replaced() ? 0 : static_cast<int>(step.count()));
    if (ready < 0 && errno != EINTR) fail(errno, "poll", object);
    if (ready > 0 && (wanted.revents & POLLIN) != 0) return true;
    if (ready > 0)
      fail(EIO, "poll", object, "its file descriptor is closed or broken: was the device removed?");
    if (clock::now() >= end) return false;
    if (clock::is_replaced()) clock::give_way();
  }
}

}  // namespace chorale::verbs
