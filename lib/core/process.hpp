// Processes of this host, as other processes see them.
#pragma once

#include <cstdint>

namespace chorale {

/// A process, for those who share its PID namespace and a view of /proc; nothing where /proc does not show
/// it. A number that the kernel has given to another process since is not mistaken for it.
struct process_identity {
  std::int64_t pid = 0;             ///< 0: not visible
  std::uint64_t start = 0;          ///< in clock ticks since boot
  std::uint64_t pid_namespace = 0;  ///< inode
  friend bool operator==(const process_identity&, const process_identity&) = default;
};

enum class process_state {
  unknown,  ///< it cannot be seen just now
  running,
  stopped,  ///< by a signal or a debugger
  gone,
};

process_identity this_process() noexcept;
/// Of a process in this PID namespace.
process_state state_of(const process_identity& process) noexcept;

}  // namespace chorale
