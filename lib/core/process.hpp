// SPDX-License-Identifier: Apache-2.0
// The processes of this host, as other processes see them.
#pragma once

#include <cstdint>

namespace chorale {

/// Identifies a process for others that share its PID namespace and /proc; empty if /proc does not show it. A
/// PID that the kernel has since reused is not mistaken for it.
struct process_identity {
  std::int64_t pid = 0;             ///< 0: not visible
  std::uint64_t start = 0;          ///< in clock ticks since boot
  std::uint64_t pid_namespace = 0;  ///< inode
  friend bool operator==(const process_identity&, const process_identity&) = default;
};

enum class process_state {
  unknown,  ///< not visible, or no longer, for example after chroot() to a folder without /proc
  running,
  stopped,  ///< by a signal or a debugger
  gone,
};

process_identity this_process() noexcept;
/// False only if the kernel reports, independently of /proc, that there is no such process.
bool may_exist(std::int64_t pid) noexcept;
/// The state of a process in this PID namespace.
process_state state_of(const process_identity& process) noexcept;

}  // namespace chorale
