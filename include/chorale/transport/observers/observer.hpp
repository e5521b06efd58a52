// SPDX-License-Identifier: Apache-2.0
// Hooks for profilers, per process and per communicator.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>

namespace chorale {

/// A communicator as observers see it: one object for the communicator's lifetime.
struct observed_communicator {
  std::uint64_t number = 0;  ///< in this process, from 1, in order of construction
  /// The same on all ranks of the communicator, different for other communicators of the job
  std::uint32_t group = 0;
  /// The same on all ranks of one bootstrap group, also in communicators split from it
  std::uint32_t job = 0;
  int home = 0;           ///< this rank's number in the first communicator of its thread
  int rank = 0;           ///< this rank in the communicator
  int size = 0;           ///< the number of ranks
  std::string transport;  ///< name of the transport
  std::string device;     ///< device of its first port
  std::string host;       ///< host of this rank
  int place = 0;          ///< number of this rank's place (`places`)
  int places = 0;         ///< the number of places
  std::string launched;   ///< how the group was started
  std::string name;       ///< as set by `communicator::set_name`
};

/// One call. Fields that are not known yet have their initial values.
struct observed_call {
  const observed_communicator* on = nullptr;  ///< the communicator
  std::uint64_t number = 0;                   ///< from 1; calls with the same number match on all ranks
  /// Operation, root, bytes of one rank's message (0 where it may differ between ranks), ...
  call what;
  bool is_nonblocking = false;  ///< the program continues while it runs
  /// Known at the end; empty before that if the algorithm is chosen while the call runs. Copy it to keep it.
  std::string_view algorithm;
  clock::time_point begun{};  ///< when the program made the call
  /// When its algorithm started: for a nonblocking call, after the calls before it
  clock::time_point run{};
  clock::time_point over{};      ///< when it ended, successfully or not
  clock::duration waited{};      ///< spent in blocking waits for other ranks
  std::uint64_t resent = 0;      ///< messages retransmitted meanwhile, if the transport itself does that
  std::exception_ptr failure{};  ///< its exception; null on success
};

/// A finished wait of a call for another rank. Messages that have already arrived cause no wait.
struct observed_wait {
  const observed_call* in = nullptr;  ///< the call that waited
  int peer = -1;                      ///< the awaited peer; -1: any rank
  clock::time_point begin{};          ///< when the wait began
  clock::time_point end{};            ///< when the wait ended
};

/// An event outside or inside the communicator's calls, including window operations, which are reported at
/// their end, successful or not.
struct observed_event {
  /// The kinds of events.
  enum class kind : std::uint8_t {
    connected,     ///< a connection with `peer` was made
    disconnected,  ///< it was closed, usually evicted for another one (config::connections)
    chosen,        ///< an algorithm was chosen by trial: `text` says which and why
    put,           ///< a put to `peer` was started; it completes at a flush
    got,           ///< a get from `peer`
    updated,       ///< an atomic update at `peer`, or an accumulate of a contiguous piece
    flushed,       ///< puts to `peer` have completed; -1: to all ranks
    notified,      ///< a notification was sent to `peer`, after earlier puts
    awaited,       ///< a wait for notifications from `peer`; -1: from any rank
  };
  kind what = kind::connected;                ///< the kind of event
  const observed_communicator* on = nullptr;  ///< the communicator
  int peer = -1;                              ///< rank of the other side; -1 for none
  std::string_view text;                      ///< for `chosen`; otherwise empty
  clock::time_point time{};                   ///< when it happened; for window operations, the end
  std::uint64_t bytes = 0;                    ///< bytes put, got or updated
  clock::time_point begin{};                  ///< for window operations, the beginning
};

/// Interface of a profiler or tracer: is notified of the calls of communicators. Each function is called on
/// the thread that is inside the communicator, never concurrently for the same communicator; an observer of
/// several communicators is called for all of them, concurrently if several threads use them.
///
/// Functions must not throw (overriders must be noexcept) and must not call the communicator that they are
/// notified of. Their run time is added to the program's. Arguments are valid until the function returns,
/// except for the `observed_communicator`, which lives until `on_ended` has returned.
///
/// Each numbered call has one `on_begin` and one `on_end`, even if it throws, is withdrawn, or the
/// communicator fails before it has run, unless it is passed (`wants_all`). Rejected calls
/// (errc::invalid_argument, errc::misuse, errc::poisoned) are not numbered or reported. Calls end in the
/// order in which they began.
class observer {
 public:
  observer() = default;
  observer(const observer&) = delete;
  observer& operator=(const observer&) = delete;
  virtual ~observer() = default;

  /// A communicator was made, or is observed from now on.
  virtual void on_made(const observed_communicator&) noexcept {}
  /// It ends, or is no longer observed: then the ends of calls in progress are not reported.
  virtual void on_ended(const observed_communicator&) noexcept {}
  /// The program makes a call.
  virtual void on_begin(const observed_call&) noexcept {}
  /// The call's algorithm starts; at once for a blocking call.
  virtual void on_run(const observed_call&) noexcept {}
  /// The call has ended, successfully or not.
  virtual void on_end(const observed_call&) noexcept {}
  /// A wait of a call has ended.
  virtual void on_wait(const observed_wait&) noexcept {}
  /// Another event has happened.
  virtual void on_event(const observed_event&) noexcept {}

  /// Whether it must be notified of each call and window operation. If no observer of a communicator must,
  /// many short ones that are alike are represented by some of them (config::sampling).
  [[nodiscard]] virtual bool wants_all() const noexcept { return true; }
  /// `calls` blocking calls like `last` have ended without notification since `last`, of which the observer
  /// was notified. For observers without `wants_all`.
  virtual void on_passed([[maybe_unused]] const observed_call& last,
                         [[maybe_unused]] std::uint64_t calls) noexcept {}
  /// The same for operations on windows.
  virtual void on_passed_events([[maybe_unused]] const observed_event& last,
                                [[maybe_unused]] std::uint64_t events) noexcept {}
};

/// Notifies `one` of every communicator that this process makes from now on, until `stop_observing(one)`.
/// Each communicator holds a reference to it until it ends. Thread-safe. `chorale/observing.hpp` has the same
/// for a single communicator.
void observe(std::shared_ptr<observer> one);
/// New communicators do not notify `one` any more; existing ones still do. Thread-safe.
void stop_observing(const std::shared_ptr<observer>& one);
/// The process-wide observers, in the order in which they were added. Thread-safe.
[[nodiscard]] std::vector<std::shared_ptr<observer>> process_observers();

}  // namespace chorale
