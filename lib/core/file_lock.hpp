// SPDX-License-Identifier: Apache-2.0
// A lock that only processes of this user can acquire.
#pragma once

#include <string>

#include "unique_fd.hpp"

namespace chorale::detail {

/// A file of mode 0600 that exists while the lock is held and is locked by flock(). Other users cannot lock
/// it, as they could a file that they can read. The kernel releases the lock when its holder dies; the empty
/// file that a killed holder leaves behind is reused. Not thread-safe.
class file_lock {
 public:
  /// `folder`: a descriptor of the folder, which must stay open.
  file_lock(int folder, std::string name) noexcept;
  file_lock(const file_lock&) = delete;
  file_lock& operator=(const file_lock&) = delete;
  /// Releases the lock.
  ~file_lock();

  /// @returns 0; EWOULDBLOCK if another process of this user has the lock; another errno if no lock is
  /// possible there, such as if the folder is not writable, its file system has no locks, or another user has
  /// a file of that name.
  [[nodiscard]] int try_lock() noexcept;

 private:
  int folder_;
  std::string name_;
  unique_fd held_;
};

}  // namespace chorale::detail
