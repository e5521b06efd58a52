// SPDX-License-Identifier: Apache-2.0
#include "peer_descriptors.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "streams_reserved.hpp"
#include "system_files.hpp"

namespace chorale::detail {
namespace {

constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

/// References a memfd of this user. Empty, with errno, if it is anything else.
unique_fd hold_memory(pid_t pid, int fd, struct stat& s) noexcept {
  const dev_t device = detail::kernel_device(false);
  if (device == 0) return unique_fd{};
  unique_fd held = detail::hold_descriptor(pid, fd, s);
  if (held.get() >= 0 && (!S_ISREG(s.st_mode) || s.st_dev != device || s.st_uid != ::geteuid())) {
    held.reset();
    errno = ENOENT;
  }
  return held;
}

}  // namespace

unique_fd hold_descriptor(pid_t pid, int fd, struct stat& s) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", static_cast<int>(pid), fd);
  unique_fd held = detail::open_of_system(path, O_PATH);
  if (held.get() >= 0 && ::fstat(held.get(), &s) != 0) held.reset();
  return held;
}

unique_fd open_held(const unique_fd& held, int flags) noexcept {
  // Through the thread's entry, since /proc shows no descriptors of a process whose main thread has ended.
  char path[64];
  std::snprintf(path, sizeof path, "/proc/thread-self/fd/%d", held.get());
  return detail::open_of_system(path, flags);
}

dev_t kernel_device(bool pipe) noexcept {
  static std::atomic<dev_t> known[2];
  dev_t device = known[pipe ? 1 : 0].load(std::memory_order_relaxed);
  if (device != 0) return device;
  struct stat s {};
  int ends[2] = {-1, -1};
  if (pipe && above_streams([&] { return ::pipe2(ends, O_CLOEXEC); }) != 0) return 0;
  if (!pipe && (ends[0] = above_streams([&] { return ::memfd_create("chorale-probe", MFD_CLOEXEC); })) < 0)
    return 0;
  const unique_fd first{ends[0]};
  const unique_fd second{ends[1]};
  if (::fstat(first.get(), &s) != 0) return 0;
  known[pipe ? 1 : 0].store(s.st_dev, std::memory_order_relaxed);
  return s.st_dev;
}

int create_memory(const char* label, std::uint64_t bytes, std::uint64_t& inode) noexcept {
  // Beyond this limit the kernel terminates a process by SIGXFSZ, unless it handles that signal.
  rlimit largest{};
  if (::getrlimit(RLIMIT_FSIZE, &largest) == 0 && largest.rlim_cur != RLIM_INFINITY &&
      bytes > largest.rlim_cur) {
    errno = EFBIG;
    return -1;
  }
  unique_fd fd{above_streams([&] { return ::memfd_create(label, MFD_CLOEXEC | MFD_ALLOW_SEALING); })};
  struct stat s {};
  if (fd.get() < 0) return -1;
  // Sealed, so that no process can truncate memory that others have mapped.
  if (::fchmod(fd.get(), 0600) != 0 || ::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0 ||
      ::fcntl(fd.get(), F_ADD_SEALS, seals) != 0 || ::fstat(fd.get(), &s) != 0) {
    const int saved = errno;
    fd.reset();
    errno = saved;
    return -1;
  }
  inode = s.st_ino;
  return fd.release();
}

int open_memory(pid_t pid, int fd, std::uint64_t inode, std::uint64_t bytes) noexcept {
  struct stat s {};
  const unique_fd held = hold_memory(pid, fd, s);
  if (held.get() < 0) return -1;
  const auto is_wanted = [&] {
    return (inode == 0 || s.st_ino == inode) && s.st_size >= 0 &&
           static_cast<std::uint64_t>(s.st_size) >= bytes;
  };
  if (!is_wanted()) {
    errno = ENOENT;
    return -1;
  }
  unique_fd opened = detail::open_held(held, O_RDWR);
  if (opened.get() < 0) return -1;
  // Check the size again: once the memory is known to be sealed, its size cannot change.
  const int sealed = ::fcntl(opened.get(), F_GET_SEALS);
  if (sealed < 0 || ::fstat(opened.get(), &s) != 0) return -1;
  if ((sealed & seals) != seals || !is_wanted()) {
    errno = ENOENT;
    return -1;
  }
  return opened.release();
}

unique_fd open_memory_to_read(pid_t pid, int fd) noexcept {
  struct stat s {};
  const unique_fd held = hold_memory(pid, fd, s);
  return held.get() < 0 ? unique_fd{} : detail::open_held(held, O_RDONLY);
}

}  // namespace chorale::detail
