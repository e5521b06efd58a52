// SPDX-License-Identifier: Apache-2.0
// Which fiber or event of a thread runs next in virtual time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <chorale/core/clock.hpp>
#include <chorale/simulation/recorder.hpp>
#include <chorale/simulation/time.hpp>

#include "context.hpp"
#include "core_turns.hpp"
#include "event_queue.hpp"
#include "fiber_record.hpp"

namespace chorale::simulation {

struct fiber;

/// An instant that is never reached.
inline constexpr instant never{duration{std::numeric_limits<std::int64_t>::max()}};

/// Fibers that wait until another fiber or an event notifies them that their condition may hold:
/// `scheduler::wait`.
class wait_list {
 public:
  wait_list() = default;
  wait_list(const wait_list&) = delete;
  wait_list& operator=(const wait_list&) = delete;

 private:
  friend class scheduler;
  std::vector<fiber*> waiting_;  ///< in order of arrival
};

struct scheduler_options {
  std::size_t stack_bytes = std::size_t{1} << 20;  ///< of each fiber; only touched pages take memory
  duration poll = std::chrono::nanoseconds{50};    ///< the time of one round of a polling loop
  /// The longest time between two polls by a fiber while nothing changes.
  duration longest_gap = std::chrono::microseconds{20};
  duration shortest_gap{};  ///< and the shortest
  duration notice{};        ///< from a change of memory until a polling core sees it
  duration wake{};          ///< from a file's readiness until a fiber that slept for it runs
  /// The time that the library's own work takes, charged to the fiber that does it; empty: none.
  std::function<duration(host_work what, std::size_t bytes)> work;
  /// The same for a copy, if its cost depends on the addresses; empty: `work`.
  std::function<duration(const void* to, const void* from, std::size_t bytes)> copied;
  /// The same for combining two operands.
  std::function<duration(const void* mine, const void* other, std::size_t bytes)> combined;
  shared_hosts hosts;          ///< hosts whose ranks may outnumber cores
  instant end = never;         ///< of virtual time: no fiber runs beyond it
  recorder* record = nullptr;  ///< null: nothing is recorded
  /// Called from time to time to report progress: the time, and the number of events so far.
  std::function<void(instant now, std::uint64_t events)> progress;
};

/// Runs fibers and events in the order of virtual time, in one thread. A *fiber* is code with a stack of its
/// own, which runs until it waits, sleeps or yields; an *event* is a function that is called at an instant
/// and does not wait. The earliest comes first, and of equal instants the one that was requested first, so
/// the history depends only on the program. The simulated code sees this time as `chorale::clock`, which
/// starts at one hour.
///
/// Time stands still while code runs; `charge` adds the time that it would have taken, which lets the running
/// fiber get ahead of others. It may then miss what happens in between, unless it calls `settle` first. A
/// fiber that yields or waits sees everything up to its own time.
///
/// On a host with more ranks than cores a fiber runs only while it has a core, which it keeps while it
/// computes, and which others have when it sleeps, waits or yields: `core_turns`. On other hosts, and
/// without a rank, each fiber has one.
///
/// All functions are called by the thread that is in `run`, or before it.
class scheduler {
 public:
  explicit scheduler(scheduler_options options = {});
  scheduler(const scheduler&) = delete;
  scheduler& operator=(const scheduler&) = delete;
  ~scheduler();

  /// Runs until all fibers have ended; events that are still pending never happen. Rethrows the first
  /// exception that escaped a fiber, after all other fibers have ended. If no fiber can run any more, each
  /// waiting fiber gets an `error` of errc::deadline that names all fibers with what they wait for. An
  /// exception of an event, and the end of time, stop the simulation at once: the fibers' stacks are
  /// abandoned without running destructors. @throws error errc::deadline at the end of time.
  void run();
  /// The scheduler whose `run` this thread is in, or null.
  [[nodiscard]] static scheduler* running() noexcept;

  // Time and events.

  /// The time of the running fiber or event.
  [[nodiscard]] instant now() const noexcept { return now_; }
  /// Calls `what()` at that instant, which is not before now(). @throws error errc::misuse if it is.
  template <class F>
  event_id at(instant when, F&& what) {
    if (when < now_) refuse_past(when);
    return queue_.add(when, std::forward<F>(what));
  }
  template <class F>
  event_id after(duration time, F&& what) {
    return at(now_ + time, std::forward<F>(what));
  }
  /// Cancels an event. @returns whether it was pending.
  bool cancel(event_id event) noexcept { return queue_.cancel(event); }
  /// How many events have happened, including those that resume fibers.
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }

  // Fibers.

  /// A new fiber, which runs from now() on. `rank`: the rank whose memory it polls, from 0; -1: none. `name`
  /// is for errors. The reference is valid as long as the scheduler.
  fiber& spawn(std::string name, int rank, std::function<void()> body);
  /// The fibers of that rank do nothing more, like those of a killed process: they count as ended, nothing on
  /// their stacks is destroyed, and no `join` of them returns. To be called from an event.
  void kill(int rank);
  /// The fibers of that rank continue no earlier than at `until`, like those of a stopped process. To be
  /// called from an event.
  void stop(int rank, instant until);
  /// The running fiber; null in an event and outside of run().
  [[nodiscard]] fiber* current() const noexcept { return current_; }
  /// Its rank, or -1.
  [[nodiscard]] int current_rank() const noexcept;
  /// A number for the core that the rank has, or had last: equal for ranks that share a core, else different.
  [[nodiscard]] int core_of(int rank) const noexcept;
  /// The running fiber's number among the fibers of its rank, in the order of `spawn`; 0 if none runs.
  [[nodiscard]] std::uint16_t current_thread() const noexcept;

  // How the running fiber spends its time. In events these functions do nothing, except `touch`, `signal` and
  // `notify`.

  /// The fiber computes for `time`.
  void charge(duration time, activity what = activity::compute) noexcept { charge(time, {.what = what}); }
  /// The same, with what a recorder notes besides rank, thread and time.
  void charge(duration time, const record& what) noexcept {
    if (current_ == nullptr) return;
    if (options_.record != nullptr) [[unlikely]]
      note_work(what, time);
    now_ += time;
  }
  /// Lets all others act up to now(), unless the fiber is ahead of them by at most `tolerance`.
  void settle(duration tolerance = {});
  /// Others run until `when`, which may be in the past.
  void sleep_until(instant when);
  /// Ends one round of a polling loop. The fiber continues after `touch` of its rank, and otherwise soon
  /// enough to notice that time has passed: after a sixteenth of the time for which it has polled, within the
  /// bounds of the options. Long polling therefore takes few events.
  void give_way();
  /// The memory or the queues that the fibers of that rank poll have changed: they see it in their next
  /// round, after `options.notice`.
  void touch(int rank) { touch(rank, options_.notice); }
  /// The same for a change that polling cores see after `notice`.
  void touch(int rank, duration notice);
  /// Others run until `signal` of its rank, or until `end`. May return earlier.
  void sleep_until_signal(instant end);
  /// A file for which fibers of that rank sleep, such as a completion channel's, has become readable: they
  /// wake after options.wake.
  void signal(int rank);
  /// Waits until `notify(list)` or `end`; returns whether it was notified. The caller checks its condition
  /// again. `what` completes "waits for". @throws error errc::deadline if no fiber can run any more.
  bool wait(wait_list& list, const char* what, instant end = never);
  /// All fibers that wait in the list continue.
  void notify(wait_list& list);
  /// Waits until that fiber has ended.
  void join(fiber& other);

  // Recording.

  /// Null if nothing is recorded.
  [[nodiscard]] recorder* recording() const noexcept { return options_.record; }
  /// `what` is the reason for which the current event calls `touch` and `signal`.
  void brings(const arrival_of& what) noexcept { comes_ = what; }

 private:
  struct fiber_clock final : time_source {
    explicit fiber_clock(scheduler& owner) noexcept : all(&owner) {}
    clock::time_point now() noexcept override;
    void give_way() noexcept override;
    void sleep_until(clock::time_point end) noexcept override;
    void await_change(clock::time_point end) noexcept override;
    void worked(host_work what, std::size_t bytes) noexcept override;
    void copied(void* to, const void* from, std::size_t bytes) noexcept override;
    void combined(void* mine, const void* other, std::size_t bytes) noexcept override;
    void changed() noexcept override;
    scheduler* all;
  };

  static void begin(void* self) noexcept;
  void run_body(fiber& self) noexcept;
  void resume(fiber& who, instant when);
  void suspend();
  void suspend_without_core();
  void note_work(const record& what, duration time) noexcept;
  void note_wait(instant since) noexcept;
  [[nodiscard]] context& next_to_run();
  void end_waits();
  void reap();
  [[nodiscard]] std::string who_waits() const;
  [[noreturn]] void refuse_past(instant when) const;

  scheduler_options options_;
  fiber_clock clock_;
  event_queue queue_;
  stack_pool stacks_;
  context thread_;  ///< the stack on which run() was called
  std::vector<std::unique_ptr<fiber>> fibers_;
  std::vector<std::vector<fiber*>> of_rank_;
  std::vector<std::uint16_t> spawned_;  ///< the number of fibers of each rank so far
  std::vector<fiber*> ended_;           ///< their stacks can be given back
  std::size_t alive_ = 0;
  instant now_{};
  instant settled_{};  ///< everything up to this time has happened
  std::uint64_t events_ = 0;
  arrival_of comes_;  ///< the last `brings` of the current event
  fiber* current_ = nullptr;
  fiber* next_ = nullptr;  ///< the fiber that the last event resumes
  core_turns cores_;
  std::exception_ptr first_;    ///< the first exception that escaped a fiber
  std::exception_ptr stopped_;  ///< thrown by an event, or at the end of time
  std::string deadlock_;        ///< the fibers and what they waited for when none could run
};

}  // namespace chorale::simulation
