// SPDX-License-Identifier: Apache-2.0
// The cores of a host that has fewer cores than ranks, and which of the threads that share a core runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <chorale/simulation/time.hpp>

namespace chorale::simulation {

/// What sharing a core costs.
struct core_costs {
  duration look{};            ///< one poll by a thread, until it yields again
  duration context_switch{};  ///< from one thread to another
};

/// A core and the threads that compete for it. They run in turns, round robin, without preemption: a thread
/// that yields goes to the end of the line. A thread whose polls find nothing has turns like all others: a
/// context switch, a poll, and the next thread has the core. Such turns are computed rather than simulated:
/// they follow from the time alone. So a core of polling threads costs no events, and yet each thread sees a
/// change in the correct turn.
///
/// A state machine without a clock: callers pass the time. Times do not decrease, with one exception: a
/// thread may leave the core at a time that the others have not reached. Later turns follow that time.
class shared_core {
 public:
  using thread = std::uint32_t;

  /// A thread that has something to do, and when it has the core for it.
  struct turn {
    instant when;
    thread who;
  };

  explicit shared_core(const core_costs& costs) noexcept : costs_(costs) {}

  /// A thread in line; from `due` on it needs the core for more than an unsuccessful poll.
  struct waiting {
    thread who;
    instant due;
  };

  /// The thread is runnable from `now` on. It goes to the end of the line.
  void add(const waiting& who, instant now);
  /// The holder goes to the end of the line. From `due` on it needs the core for more than an unsuccessful
  /// poll.
  void give_way(instant now, instant due);
  /// From `due` on a thread in line needs the core as above; no effect if an earlier time is known.
  void hurry(thread who, instant due) noexcept;
  /// The thread is no longer runnable, whether it has the core or is in line.
  void remove(thread who, instant now);
  /// Removes the last thread in line, which goes to another core.
  [[nodiscard]] waiting take_last(instant now);

  /// The next turn of a thread that has something to do; none while the core is held, or if the line is
  /// empty.
  [[nodiscard]] std::optional<turn> next() const noexcept;
  /// The turn begins: the thread has the core until it yields or is removed.
  void begin(const turn& next);

  [[nodiscard]] std::optional<thread> holder() const noexcept { return holder_; }
  /// The number of runnable threads, the holder included.
  [[nodiscard]] std::size_t runnable() const noexcept { return line_.size() + (holder_ ? 1 : 0); }

 private:
  [[nodiscard]] duration to_first_look() const noexcept;
  [[nodiscard]] duration between_looks() const noexcept;
  void catch_up(instant now);
  void pass(std::int64_t turns);

  core_costs costs_;
  std::vector<waiting> line_;     ///< the first one's turn begins at free_
  instant free_{};                ///< when the last completed turn ended
  std::optional<thread> before_;  ///< the thread that had that turn
  std::optional<thread> holder_;
};

/// Assigns threads to cores as an operating system does. A thread that becomes runnable goes to the core with
/// the fewest threads, preferably the one that it had last; a core without threads takes one from the core
/// with most. Otherwise threads stay where they are. Each function returns the cores that it has changed.
class host_cores {
 public:
  host_cores(int cores, const core_costs& costs)
      : cores_(static_cast<std::size_t>(cores), shared_core{costs}) {}

  [[nodiscard]] shared_core& operator[](std::size_t core) noexcept { return cores_[core]; }

  /// The thread is runnable from now on. @returns its core.
  std::size_t add(shared_core::thread who, std::optional<std::size_t> last, instant now);

  /// A thread that has moved to a core that was idle.
  struct move {
    shared_core::thread who;
    std::size_t from;
    std::size_t to;
  };
  /// The thread, which had `core` or was queued for it, is no longer runnable.
  std::optional<move> remove(shared_core::thread who, std::size_t core, instant now);

 private:
  std::vector<shared_core> cores_;
};

}  // namespace chorale::simulation
