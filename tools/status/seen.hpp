// SPDX-License-Identifier: Apache-2.0
// The ranks on this host, as chorale-status sees them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <chorale/core/call.hpp>

namespace status {

inline constexpr int for_none = -2;  ///< a rank that does not wait
inline constexpr int for_any = -1;

/// One rank of one communicator.
struct place {
  int pid = 0;
  int thread = 0;           ///< the thread that uses it; 0: unknown
  std::uint64_t slot = 0;   ///< offset of its slot, to find it again
  std::uint64_t group = 0;  ///< the communicator
  int rank = 0;
  int size = 1;
  int hosts = 1;
  std::string label;
  std::optional<std::string> failure;  ///< why the communicator failed
  std::vector<int> here;               ///< ranks of this host known to this one

  std::uint64_t begun = 0;                 ///< number of its last call
  std::uint64_t ended = 0;                 ///< number of its last completed call
  std::optional<chorale::call> last;       ///< call `begun`
  std::optional<chorale::call> under_way;  ///< call `ended + 1`, if begun
  int waits_for = for_none;
  std::chrono::nanoseconds waited{};     ///< so far
  std::chrono::nanoseconds in_call{-1};  ///< lower bound, since its first wait in the call; negative: unknown
  std::chrono::nanoseconds absent{-1};   ///< lower bound, outside all calls; negative: in a call, or unknown

  bool is_torn = false;  ///< it made calls too quickly for a consistent copy
  // From two looks.
  std::uint64_t more_calls = 0;  ///< begun between them
  bool stands = false;           ///< it was in the same wait in both

  [[nodiscard]] bool is_in_call() const noexcept { return begun > ended; }
};

struct process {
  int pid = 0;
  std::string name;
  std::vector<place> places;
  std::uint64_t unpublished = 0;  ///< communicators that are not in `places`
  std::string problem;            ///< why it cannot be read, although it seems to have communicators
};

/// Facts about a process from /proc; nothing if there is no such process.
struct identity {
  int pid = 0;
  int parent = 0;
  unsigned user = 0;
  std::string name;
  char state = '?';
};
std::optional<identity> identify(int pid);
/// State of a thread, as in /proc/PID/task/TID/stat; '?' if there is no such thread.
char state_of_thread(int pid, int thread);

/// Reads that memory of a process, by whatever descriptor it is open. Copies the bytes and validates them:
/// invalid ranks and calls are omitted, control characters in texts made visible.
void read_places(process& of);

/// All processes of this user that have communicators.
std::vector<process> look();
/// Looks twice, `between` apart, to determine which ranks make progress.
std::vector<process> look_twice(std::chrono::milliseconds between);

}  // namespace status
