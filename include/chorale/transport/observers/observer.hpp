// What profilers are told of calls: the hooks of a process and of its communicators.
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

/// A communicator as observers see it: one object for as long as the communicator lives.
struct observed_communicator {
  std::uint64_t number = 0;  ///< in this process, from 1, in the order in which they were made
  std::uint32_t group = 0;   ///< the same on all ranks of the communicator, another one for others of the job
  std::uint32_t job = 0;  ///< the same on all ranks that the bootstrap brought together, and in their parts
  int home = 0;           ///< this rank's number in the first communicator of its thread
  int rank = 0;           ///< this rank in the communicator
  int size = 0;           ///< how many ranks it has
  std::string transport;  ///< its name
  std::string device;     ///< of its first port
  std::string host;       ///< of this rank
  std::string launched;   ///< how the group came to be
  std::string name;       ///< as `communicator::set_name` has it
};

/// One call. What is not known yet is as it is initialized here.
struct observed_call {
  const observed_communicator* on = nullptr;  ///< whose call it is
  std::uint64_t number = 0;  ///< from 1; calls with the same number belong together on all ranks
  call what;                 ///< operation, root, bytes of one rank's message (0 where ranks may differ), ...
  bool is_nonblocking = false;  ///< the program goes on while it runs
  /// Known at the end; before it, empty where the algorithm is chosen while the call runs. Copy it, if it is
  /// to be kept.
  std::string_view algorithm;
  clock::time_point begun{};     ///< the program made the call
  clock::time_point run{};       ///< its algorithm began: for a nonblocking call, behind the calls before it
  clock::time_point over{};      ///< it has ended, well or not
  clock::duration waited{};      ///< in waits for other ranks that kept the thread
  std::uint64_t resent = 0;      ///< messages sent again meanwhile, where the transport does that itself
  std::exception_ptr failure{};  ///< what it has thrown; null if it has ended well
};

/// A wait of a call for another rank that is over. A message that is there already is not waited for.
struct observed_wait {
  const observed_call* in = nullptr;  ///< the call that waited
  int peer = -1;                      ///< who was waited for; -1: any rank
  clock::time_point begin{};          ///< of the wait
  clock::time_point end{};            ///< of the wait
};

/// Something that happened beside the calls of a communicator, or in one of them: also what was done with a
/// window, which is told when it is over, well or not.
struct observed_event {
  /// What can happen.
  enum class kind : std::uint8_t {
    connected,     ///< a connection with `peer` was made
    disconnected,  ///< it was closed, usually in favour of another one (config::connections)
    chosen,        ///< an algorithm was chosen by trial: `text` says which and why
    put,           ///< a put to `peer` was begun, of so many bytes: it is there once it was flushed
    got,           ///< a get from `peer`
    updated,       ///< an atomic update of the memory of `peer`, or an accumulation of a stretch
    flushed,       ///< what was put to `peer` is there; -1: to all ranks
    notified,      ///< `peer` was sent a notification, behind what was put there
    awaited,       ///< a wait for notifications of `peer`; -1: of any ranks
  };
  kind what = kind::connected;                ///< what happened
  const observed_communicator* on = nullptr;  ///< where
  int peer = -1;                              ///< rank of the other end; -1 where there is none
  std::string_view text;                      ///< of a choice; else empty
  clock::time_point time{};                   ///< when; of what was done with a window, when it was over
  std::uint64_t bytes = 0;                    ///< that were put, got or updated
  clock::time_point begin{};                  ///< of what was done with a window
};

/// Is told of the calls of communicators: a profiler, a tracer. Each function is called by the thread that is
/// inside the communicator, never by two threads for the same communicator at a time; an observer of several
/// communicators is called for all of them, by several threads at once if those use them so.
///
/// Functions must not throw (the compiler wants their overriders noexcept), and must not call the
/// communicator that they are told of. What they take is the program's time. What they are given is valid
/// until they return, except for the `observed_communicator`, which lives until `on_ended` has returned.
///
/// Each call that gets a number has one `on_begin` and one `on_end`, also if it throws, is withdrawn, or if
/// the communicator fails before it has run. A call that is refused (errc::invalid_argument, errc::misuse,
/// errc::poisoned) is not begun, and nobody is told of it. Calls end in the order in which they have begun.
class observer {
 public:
  observer() = default;
  observer(const observer&) = delete;
  observer& operator=(const observer&) = delete;
  virtual ~observer() = default;

  /// A communicator was made, or is observed from now on.
  virtual void on_made(const observed_communicator&) noexcept {}
  /// It ends, or is not observed any more: then calls may be open, of whose end nobody is told.
  virtual void on_ended(const observed_communicator&) noexcept {}
  /// The program makes a call.
  virtual void on_begin(const observed_call&) noexcept {}
  /// Its algorithm begins to run, at once if the call is blocking.
  virtual void on_run(const observed_call&) noexcept {}
  /// It has ended, well or not.
  virtual void on_end(const observed_call&) noexcept {}
  /// A wait of a call is over.
  virtual void on_wait(const observed_wait&) noexcept {}
  /// Something else has happened.
  virtual void on_event(const observed_event&) noexcept {}
};

/// From now on `one` is told of every communicator that this process makes, until `stop_observing(one)`. It
/// is kept by each communicator until that ends. Thread-safe. `chorale/observing.hpp` has the same for one
/// communicator.
void observe(std::shared_ptr<observer> one);
/// Communicators that are made from now on do not tell `one` of anything; those that do go on. Thread-safe.
void stop_observing(const std::shared_ptr<observer>& one);
/// Those that are told of every communicator, in the order in which they came. Thread-safe.
[[nodiscard]] std::vector<std::shared_ptr<observer>> process_observers();

}  // namespace chorale
