// SPDX-License-Identifier: Apache-2.0
// The identity of this host, and the cores that this process may use.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "../../core/printable.hpp"

namespace chorale::transport {

/// Equal for processes that share a kernel. The host name alone is not enough: containers and clones share
/// names.
struct host_identity {
  char name[72];  ///< on Linux up to 64 bytes
  char boot[40];
  friend bool operator==(const host_identity&, const host_identity&) = default;
  [[nodiscard]] std::string text() const { return printable(name); }
};

/// A set of up to 1024 cores.
struct cpu_mask {
  std::array<std::uint64_t, 16> words;
  void merge(const cpu_mask& other) noexcept;
  [[nodiscard]] int count() const noexcept;
};

/// The credentials of a process, which decide whether another process may inspect it.
struct user_identity {
  std::uint32_t id;          ///< effective
  std::uint32_t group;       ///< effective
  std::uint32_t name_space;  ///< inode of the user namespace; 0: unknown
  /// 1 if the kernel protects the process from its own user (PR_GET_DUMPABLE) and it lacks CAP_SYS_PTRACE,
  /// which it would need to access other processes of this kind.
  std::uint32_t is_closed;
};

/// Only the name of this host, which is always available.
std::string this_host_name();
host_identity this_host();
user_identity this_user() noexcept;
/// Cores in the calling thread's affinity mask; all bits if the system does not report it.
cpu_mask this_process_cpus();

}  // namespace chorale::transport
