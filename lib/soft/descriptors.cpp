// SPDX-License-Identifier: Apache-2.0
// System objects that processes reach through each other's /proc/<pid>/fd.
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../core/system_files.hpp"
#include "fabric.hpp"

namespace chorale::soft {
namespace {

/// References the pipe with that inode in a process of this user. Empty, with errno, if it is anything else.
unique_fd hold_pipe(pid_t pid, int fd, std::uint64_t inode) noexcept {
  const dev_t device = detail::kernel_device(true);
  if (device == 0) return unique_fd{};
  struct stat s {};
  unique_fd held = detail::hold_descriptor(pid, fd, s);
  if (held.get() >= 0 &&
      (!S_ISFIFO(s.st_mode) || s.st_dev != device || s.st_uid != geteuid() || s.st_ino != inode)) {
    held.reset();
    errno = ENOENT;
  }
  return held;
}

struct process_stat {
  char state;
  unsigned flags;
  int threads;
  unsigned long long start;
};

/// A process whose first thread has ended also shows as a zombie.
bool has_ended(const process_stat& s) noexcept {
  return (s.state == 'Z' || s.state == 'X') && s.threads <= 1;
}

/// Reads the status of a process as its first thread's, since QEMU invents the status that a process reads of
/// itself. False with errno: ESRCH if there is no such process, ENOENT if /proc does not show it, as after
/// chroot() to a place without /proc.
bool read_stat(pid_t pid, process_stat& s) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/task/%d/stat", static_cast<int>(pid), static_cast<int>(pid));
  const unique_fd fd = detail::open_of_system(path);
  if (fd.get() < 0) {
    if (errno == ENOENT) errno = kill(pid, 0) == 0 || errno != ESRCH ? ENOENT : ESRCH;
    return false;
  }
  char text[1024];
  const ssize_t got = read(fd.get(), text, sizeof text - 1);
  if (got <= 0) {
    errno = ESRCH;
    return false;
  }
  text[got] = '\0';
  const char* rest = std::strrchr(text, ')');  // the program's name may contain anything
  return rest != nullptr &&
         std::sscanf(rest + 1,
                     " %c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d %*d %llu",
                     &s.state, &s.flags, &s.threads, &s.start) == 4;
}

}  // namespace

int open_pipe(pid_t pid, int fd, std::uint64_t inode) noexcept {
  const unique_fd held = hold_pipe(pid, fd, inode);
  // For reading and writing, so that there is always a reader and a write never raises SIGPIPE.
  return held.get() < 0 ? -1 : detail::open_held(held, O_RDWR | O_NONBLOCK).release();
}

bool has_pipe(pid_t pid, int fd, std::uint64_t inode) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", static_cast<int>(pid), fd);
  struct stat s {};
  if (stat(path, &s) == 0) return S_ISFIFO(s.st_mode) && s.st_ino == inode;
  // A process that cannot be inspected counts as alive.
  process_stat shown{};
  return errno != ENOENT || !read_stat(pid, shown);
}

int open_life_line(pid_t pid, int fd, std::uint64_t inode) noexcept {
  const unique_fd held = hold_pipe(pid, fd, inode);
  if (held.get() < 0) {
    if (!is_shortage(errno)) errno = ESRCH;
    return -1;
  }
  unique_fd opened = detail::open_held(held, O_RDONLY | O_NONBLOCK);
  if (opened.get() < 0) return -1;
  // A pipe opened after its last writer has closed it never hangs up.
  char byte = 0;
  if (read(opened.get(), &byte, 1) == 0) {
    errno = ESRCH;
    return -1;
  }
  return opened.release();
}

bool is_alive(const member& entry) noexcept {
  const pid_t pid = entry.pid.load(std::memory_order_acquire);
  if (pid == 0) return false;
  process_stat before{};
  // Without a spare descriptor, or without /proc, no process is declared dead.
  if (!read_stat(pid, before)) return errno != ESRCH;
  if (has_ended(before) || before.start != entry.start_time.load()) return false;
  // exec() keeps pid and start time, but closes the segment.
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", static_cast<int>(pid), entry.segment_fd.load());
  struct stat s {};
  if (stat(path, &s) == 0) return s.st_ino == entry.segment_inode.load();
  if (errno != ENOENT && errno != ESRCH) return true;
  // The first thread of a process closes its descriptors when it ends; the others continue.
  constexpr unsigned exiting = 4;
  process_stat now{};
  if (!read_stat(pid, now)) return errno != ESRCH;
  return (now.flags & exiting) != 0 && now.threads > 1;
}

std::uint64_t inode_of(int fd) noexcept {
  struct stat s {};
  return fstat(fd, &s) == 0 ? s.st_ino : 0;
}

std::uint64_t start_time_of(pid_t pid) noexcept {
  process_stat s{};
  return read_stat(pid, s) && !has_ended(s) ? s.start : 0;
}

std::uint32_t namespace_of(const char* kind) noexcept {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/thread-self/ns/%s", kind);
  struct stat s {};
  errno = 0;
  return stat(path, &s) == 0 ? static_cast<std::uint32_t>(s.st_ino) : 0;
}

std::uint64_t random_word() noexcept {
  std::uint64_t word = 0;
  if (getrandom(&word, sizeof word, 0) != static_cast<ssize_t>(sizeof word))
    word = static_cast<std::uint64_t>(now_ns()) * 0x9e3779b97f4a7c15 + static_cast<std::uint64_t>(getpid());
  return word;
}

bool is_shortage(int errnum) noexcept {
  return errnum == EMFILE || errnum == ENFILE || errnum == ENOMEM;
}

}  // namespace chorale::soft
