// A lock that only processes of this user can have.
#pragma once

#include <string>

#include "unique_fd.hpp"

namespace chorale::detail {

/// A file of mode 0600 that exists while the lock is held, and is locked by flock(): others can neither
/// take nor hold it, unlike a lock on a file that they can read. The kernel frees it when its holder dies;
/// the empty file of a holder that was killed is taken over. Not thread-safe.
class file_lock {
 public:
  /// In a folder that somebody else keeps open.
  file_lock(int folder, std::string name) noexcept;
  file_lock(const file_lock&) = delete;
  file_lock& operator=(const file_lock&) = delete;
  /// Gives the lock back.
  ~file_lock();

  /// 0; EWOULDBLOCK if another process of this user has it; any other errno if no such lock can be had
  /// there, as where the folder cannot be written, its file system has no locks, or another user has taken
  /// the name.
  [[nodiscard]] int try_lock() noexcept;

 private:
  int folder_;
  std::string name_;
  unique_fd held_;
};

}  // namespace chorale::detail
