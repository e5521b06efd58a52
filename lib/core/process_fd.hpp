// SPDX-License-Identifier: Apache-2.0
// A file descriptor that children of fork() do not keep.
#pragma once

#include <unistd.h>
#include <utility>

#include <chorale/core/origin.hpp>

namespace chorale::detail {

/// Owns a file descriptor. A child of fork() closes its copy at once, and its copy of this object does
/// nothing: otherwise the child would keep alive what others take for a sign of its parent. (Children of
/// clone() and vfork() keep it until exec(), as do those forked in the moment between opening and this
/// object, and descriptors from 65,536 on.)
class process_fd {
 public:
  explicit process_fd(int fd = -1) noexcept : fd_(fd) { note(fd_); }
  ~process_fd() { reset(); }
  process_fd(process_fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)), made_(other.made_) {}
  process_fd& operator=(process_fd&& other) noexcept {
    if (this == &other) return *this;
    reset();
    fd_ = std::exchange(other.fd_, -1);
    made_ = other.made_;
    return *this;
  }
  [[nodiscard]] int get() const noexcept { return fd_; }
  void reset() noexcept {
    if (fd_ < 0) return;
    if (made_.is_here()) {
      forget(fd_);  // first: from then on it may be the number of another file
      ::close(fd_);
    }
    fd_ = -1;
  }

 private:
  static void note(int fd) noexcept;
  static void forget(int fd) noexcept;

  int fd_;
  origin made_;
};

}  // namespace chorale::detail
