// What chorale-status sees of the ranks on this host.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <chorale/core/call.hpp>

namespace status {

inline constexpr int for_none = -2;  ///< a rank that waits for nobody
inline constexpr int for_any = -1;

/// One rank of one communicator.
struct place {
  int pid = 0;
  int thread = 0;           ///< that uses it, as far as is known; 0 if it is not
  std::uint64_t slot = 0;   ///< where it was read, to find it again
  std::uint64_t group = 0;  ///< the communicator
  int rank = 0;
  int size = 1;
  int hosts = 1;
  std::string label;
  std::string host;
  std::optional<std::string> failure;  ///< why the communicator has failed
  std::vector<int> here;               ///< ranks that this one has met on this host
  bool here_is_all = true;             ///< false: there are more ranks than it could name

  std::uint64_t begun = 0;                 ///< number of its last call
  std::uint64_t ended = 0;                 ///< number of the last call that is over
  std::optional<chorale::call> last;       ///< call `begun`
  std::optional<chorale::call> under_way;  ///< call `ended + 1`, if there is one
  int waits_for = for_none;
  std::chrono::nanoseconds waited{};     ///< so far
  std::chrono::nanoseconds in_call{-1};  ///< at the least, since it waited in it first; negative: not known
  std::chrono::nanoseconds absent{-1};   ///< at the least, outside all calls; negative: in one, or not known

  bool is_torn = false;  ///< it made calls too quickly to be read
  // Of two looks.
  std::uint64_t more_calls = 0;  ///< begun between them
  bool stands = false;           ///< the same wait in both

  [[nodiscard]] bool is_in_call() const noexcept { return begun > ended; }
};

struct process {
  int pid = 0;
  int parent = 0;
  std::string name;
  char state = '?';  ///< as /proc/PID/stat has it
  std::vector<place> places;
  std::uint64_t unpublished = 0;  ///< communicators that are not among the places
  std::string problem;            ///< why it cannot be read, though it seems to have communicators
};

/// What /proc tells of a process; nothing if it is not there.
struct identity {
  int pid = 0;
  int parent = 0;
  unsigned user = 0;
  std::string name;
  char state = '?';
};
std::optional<identity> identify(int pid);
/// State of a thread, as /proc/PID/task/TID/stat has it; '?' if it is not there.
char state_of_thread(int pid, int thread);

/// All processes of this user in which there are communicators.
std::vector<process> look();
/// The same twice, `between` apart: what stands and what moves is known then.
std::vector<process> look_twice(std::chrono::milliseconds between);

}  // namespace status
