// SPDX-License-Identifier: Apache-2.0
// Measures processes that share a core in turn.
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <new>
#include <sched.h>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include <chorale/bench/contestant.hpp>

#include "../../one_core.hpp"
#include "facts.hpp"

namespace points::calibration {
namespace {

/// The number of turns before the measurement, and in it.
constexpr std::uint64_t to_warm_up = 2000;
constexpr std::uint64_t all_turns = to_warm_up + 20000;
constexpr unsigned longest_seconds = 60;

/// The memory that the processes share.
struct turn_table {
  std::atomic<int> here{0};           ///< processes that have begun
  std::atomic<bool> given_up{false};  ///< a process could not be started
  std::atomic<std::uint64_t> turns{0};
  chorale::bench::timer::time_point begin{};
  chorale::bench::timer::time_point end{};
};

/// A turn_table in memory that a fork shares.
class shared_table {
 public:
  shared_table()
      : at_(mmap(nullptr, sizeof(turn_table), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (at_ == MAP_FAILED) throw std::runtime_error(fmt::format("calibrate: mmap: {}", std::strerror(errno)));
    new (at_) turn_table{};
  }
  ~shared_table() { munmap(at_, sizeof(turn_table)); }
  shared_table(const shared_table&) = delete;
  shared_table& operator=(const shared_table&) = delete;

  [[nodiscard]] turn_table& operator*() const noexcept { return *static_cast<turn_table*>(at_); }

 private:
  void* at_;
};

/// One of the processes, from its fork to its end: calls only async-signal-safe functions, since its parent
/// has threads.
[[noreturn]] void take_turns(turn_table& table, int processes, int core) noexcept {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The wait for the others ends even if one of them is killed.
  alarm(longest_seconds);
  if (!tools::keep_on_core(core)) {
    table.given_up = true;
    _exit(1);
  }
  ++table.here;
  while (table.here < processes && !table.given_up) sched_yield();
  while (!table.given_up) {
    const std::uint64_t turn = table.turns++;
    if (turn == to_warm_up) table.begin = chorale::bench::timer::now();
    if (turn == all_turns) table.end = chorale::bench::timer::now();
    if (turn >= all_turns) break;
    sched_yield();
  }
  _exit(0);
}

/// Waits until the child has ended. @returns whether it succeeded.
bool has_ended_well(pid_t child) noexcept {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

double turn_of(int processes) {
  const shared_table shared;
  turn_table& table = *shared;
  const int core = sched_getcpu();
  std::vector<pid_t> children;
  int fault = 0;
  for (int i = 0; i < processes && fault == 0; ++i) {
    const pid_t child = fork();
    if (child == 0) take_turns(table, processes, core);
    if (child > 0)
      children.push_back(child);
    else
      fault = errno;
  }
  // A child may have given up before.
  if (fault != 0) table.given_up = true;
  for (const pid_t child : children)
    if (!has_ended_well(child)) table.given_up = true;
  if (table.given_up)
    throw std::runtime_error(fmt::format("calibrate: {} processes that share core {} could not be run: {}",
                                         processes, core,
                                         fault != 0 ? std::strerror(fault) : "one of them has ended"));
  return std::chrono::duration<double>(table.end - table.begin).count() /
         static_cast<double>(all_turns - to_warm_up);
}

}  // namespace points::calibration
