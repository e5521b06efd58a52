// Who runs next in virtual time: fibers and events of one thread.
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
#include "random_bits.hpp"

namespace chorale::simulation {

struct fiber;

/// What never comes.
inline constexpr instant never{duration{std::numeric_limits<std::int64_t>::max()}};

/// Fibers that wait until somebody says that what they wait for may have come: `scheduler::wait`.
class wait_list {
 public:
  wait_list() = default;
  wait_list(const wait_list&) = delete;
  wait_list& operator=(const wait_list&) = delete;
  [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }

 private:
  friend class scheduler;
  std::vector<fiber*> waiting_;  ///< in the order in which they came
};

struct scheduler_options {
  std::uint64_t seed = 1;
  std::size_t stack_bytes = std::size_t{1} << 20;  ///< of each fiber; only what it has touched is memory
  duration poll = std::chrono::nanoseconds{50};    ///< one round of a polling loop takes that long
  /// How long a fiber that polls is left alone at most while nothing that it could see happens.
  duration longest_gap = std::chrono::microseconds{20};
  duration shortest_gap{};  ///< and how long at least
  duration notice{};        ///< from a change of memory until a core that looks at it sees it
  duration wake{};          ///< until a fiber runs that slept for a file
  /// What the library's own work takes, which is charged to the fiber that does it; nothing if it is empty.
  std::function<duration(host_work what, std::size_t bytes)> work;
  /// The same of a copy, if it matters which bytes; empty: `work`.
  std::function<duration(const void* to, const void* from, std::size_t bytes)> copied;
  /// The same of two operands.
  std::function<duration(const void* mine, const void* other, std::size_t bytes)> combined;
  shared_hosts hosts;          ///< on which ranks may outnumber cores
  instant end = never;         ///< of virtual time: who has not ended by then never will
  recorder* record = nullptr;  ///< who notes what happens, if anybody does
  /// Told now and then how far it is: the time, and how many events have happened.
  std::function<void(instant now, std::uint64_t events)> progress;
};

/// Runs fibers and events in the order of virtual time, in one thread. A *fiber* is code with a stack of its
/// own, which runs until it waits, sleeps or gives way; an *event* is a function that is called at an instant
/// and does not wait. The earliest comes first, and of equal instants the one that was asked for first: what
/// happens depends on nothing but the program and the seed. The simulated code sees this time as
/// `chorale::clock`, an hour of which has passed at the beginning.
///
/// Time stands still while code runs; what it would have taken is said by `charge`, which lets the running
/// fiber get ahead of others. What it then looks at may lack what happens in between, unless it calls
/// `settle` first. Who gives way or waits sees everything up to its own time.
///
/// On a host with more ranks than cores a fiber runs only while it has a core, which it keeps while it
/// computes, and which others have when it sleeps, waits or gives way: `core_turns`. On other hosts, and
/// without a rank, each fiber has one.
///
/// All functions are called by the thread that is in `run`, or before it.
class scheduler {
 public:
  explicit scheduler(scheduler_options options = {});
  scheduler(const scheduler&) = delete;
  scheduler& operator=(const scheduler&) = delete;
  ~scheduler();

  /// Runs until all fibers have ended; events that are still to come then never happen. Rethrows the
  /// exception that a fiber let out first, after the others have ended as well. If nobody can run any more,
  /// each fiber that waits gets an `error` of errc::deadline that names all of them with what they wait for.
  /// An exception of an event, and the end of time, stop the simulation at once: the fibers' stacks are given
  /// up without running destructors. @throws error errc::deadline at the end of time.
  void run();
  /// The one that is in `run` in this thread, or null.
  [[nodiscard]] static scheduler* running() noexcept;

  // Time and events.

  /// The time of the fiber or event that runs.
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
  /// Whether the event was still to come. It will not.
  bool cancel(event_id event) noexcept { return queue_.cancel(event); }
  /// How many events have happened, those included by which fibers go on.
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }
  /// Drawn from the seed.
  [[nodiscard]] random_bits& random() noexcept { return random_; }

  // Fibers.

  /// A new fiber, which runs from now() on. `rank`: whose memory it looks at, from 0; -1: nobody's. `name` is
  /// for errors. The reference is good as long as the scheduler.
  fiber& spawn(std::string name, int rank, std::function<void()> body);
  /// The fibers of that rank do nothing more, as those of a process that has been killed: they count as
  /// ended, nothing on their stacks is destroyed, and nobody waits for them. From an event.
  void kill(int rank);
  /// They go on no earlier than at `until`, as those of a process that has been stopped. From an event.
  void stop(int rank, instant until);
  /// The fiber that runs; null in an event and outside of run().
  [[nodiscard]] fiber* current() const noexcept { return current_; }
  /// Its rank, or -1.
  [[nodiscard]] int current_rank() const noexcept;
  /// A number for the core that the rank has, or had last: others have others, unless they share it.
  [[nodiscard]] int core_of(int rank) const noexcept;
  /// Which of the fibers of its rank it is, in the order in which they were spawned; 0 if none runs.
  [[nodiscard]] std::uint16_t current_thread() const noexcept;

  // What the fiber that runs does with its time. In events these do nothing, but for `touch`, `signal` and
  // `notify`.

  /// It computes for so long.
  void charge(duration time, activity what = activity::compute) noexcept { charge(time, {.what = what}); }
  /// The same, with what a recorder is to know of it besides who and when.
  void charge(duration time, const record& what) noexcept {
    if (current_ == nullptr) return;
    if (options_.record != nullptr) [[unlikely]]
      note_work(what, time);
    now_ += time;
  }
  /// Everything happens that others do up to now(), unless the fiber is ahead of them by so little.
  void settle(duration tolerance = {});
  /// Others run until `when`, which may have passed.
  void sleep_until(instant when);
  /// One round of a polling loop is over. It goes on when somebody has called `touch` with its rank, and
  /// otherwise in time to notice that time has passed: after a sixteenth of the time for which it has polled
  /// in vain, within the bounds of options. So polling costs nothing while nothing happens.
  void give_way();
  /// The memory or the queues that fibers of that rank poll have changed: they look at their next round.
  void touch(int rank);
  /// Others run until `signal` is called with its rank, or until `end`. It may return earlier.
  void sleep_until_signal(instant end);
  /// A file that fibers of that rank sleep for has become readable, such as a completion channel's: they wake
  /// after options.wake.
  void signal(int rank);
  /// Waits until `notify(list)` or `end`; returns whether it was notified. The caller checks again what it
  /// waits for. `what` completes "waits for". @throws error errc::deadline if nobody can run any more.
  bool wait(wait_list& list, const char* what, instant end = never);
  /// All that wait there go on.
  void notify(wait_list& list);
  /// Waits until that fiber has ended.
  void join(fiber& other);

  // Who notes what happens.

  /// Null if nobody does.
  [[nodiscard]] recorder* recording() const noexcept { return options_.record; }
  /// What the event that happens now touches and signals has come by that.
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
  random_bits random_;
  fiber_clock clock_;
  event_queue queue_;
  stack_pool stacks_;
  context thread_;  ///< in which run() was called
  std::vector<std::unique_ptr<fiber>> fibers_;
  std::vector<std::vector<fiber*>> of_rank_;
  std::vector<std::uint16_t> spawned_;  ///< how many of each rank ever were
  std::vector<fiber*> ended_;           ///< whose stacks can be given back
  std::size_t alive_ = 0;
  instant now_{};
  instant settled_{};  ///< up to when others have done what they do
  std::uint64_t events_ = 0;
  arrival_of comes_;  ///< by the event that happens
  fiber* current_ = nullptr;
  fiber* next_ = nullptr;  ///< whose turn the last event has brought
  core_turns cores_;
  std::exception_ptr first_;    ///< that a fiber let out
  std::exception_ptr stopped_;  ///< by an event or the end of time
  std::string deadlock_;        ///< who waited for what when nobody could run
};

}  // namespace chorale::simulation
