// SPDX-License-Identifier: Apache-2.0
#include "file_lock.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "streams_reserved.hpp"

namespace chorale::detail {

file_lock::file_lock(int folder, std::string name) noexcept : folder_(folder), name_(std::move(name)) {}

file_lock::~file_lock() {
  // Remove the name before releasing the lock: a child of fork() also has the descriptor, and would otherwise
  // block others.
  if (held_.get() >= 0) ::unlinkat(folder_, name_.c_str(), 0);
}

int file_lock::try_lock() noexcept {
  constexpr int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  unique_fd file{above_streams([&] { return ::openat(folder_, name_.c_str(), flags, 0600); })};
  struct stat ours {};
  if (file.get() < 0 || ::fstat(file.get(), &ours) != 0) return errno == ESTALE ? EWOULDBLOCK : errno;
  if (!S_ISREG(ours.st_mode) || ours.st_uid != ::geteuid() || (ours.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return EPERM;
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0)
    return errno == EINTR || errno == ESTALE ? EWOULDBLOCK : errno;
  // The last holder may have removed the file since it was opened.
  struct stat named {};
  if (::fstatat(folder_, name_.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0 || named.st_ino != ours.st_ino ||
      named.st_dev != ours.st_dev)
    return EWOULDBLOCK;
  held_ = std::move(file);
  return 0;
}

}  // namespace chorale::detail
