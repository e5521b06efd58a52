// Which host this is, and which of its cores this process may use.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "../core/printable.hpp"

namespace chorale::transport {

/// Equal for processes that share a kernel. The name alone would not do: containers and clones share names.
struct host_identity {
  char name[64];
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

/// With whose rights a process runs.
struct user_identity {
  std::uint32_t id;          ///< effective
  std::uint32_t name_space;  ///< inode of the user name space; 0: unknown
};

/// The name of this host alone, which can always be told.
std::string this_host_name();
host_identity this_host();
user_identity this_user() noexcept;
/// Cores in the affinity mask of the calling thread; all bits if the system does not tell.
cpu_mask this_process_cpus();

}  // namespace chorale::transport
