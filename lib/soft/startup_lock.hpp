// SPDX-License-Identifier: Apache-2.0
// The lock for operations that only one process at a time may do: create a fabric, or take a slot in it.
#pragma once

#include <memory>
#include <string>

#include "../core/file_lock.hpp"
#include "../core/unique_fd.hpp"

namespace chorale::soft {

/// A name that the kernel frees when its holder dies, and a lock that other users can neither take nor hold.
/// The name works among processes that do not see the same folders, the lock if another user has taken the
/// name.
class startup_lock {
 public:
  startup_lock() = default;
  startup_lock(const startup_lock&) = delete;
  startup_lock& operator=(const startup_lock&) = delete;

  /// Waits for the lock of the fabric with that prefix (`name_prefix`) for at most 30 s. 0, ETIMEDOUT, or the
  /// errno of a system call.
  [[nodiscard]] int take(const std::string& prefix);

 private:
  detail::unique_fd name_;
  detail::unique_fd folder_;
  std::unique_ptr<detail::file_lock> lock_;
};

/// Binds an abstract socket to that name; -1 with errno, EADDRINUSE if it is taken.
[[nodiscard]] int bind_name(const std::string& name) noexcept;

}  // namespace chorale::soft
