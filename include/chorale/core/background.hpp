// SPDX-License-Identifier: Apache-2.0
// A thread's background work, which progresses while the thread waits for something else.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include <chorale/core/attention.hpp>
#include <chorale/core/clock.hpp>
#include <chorale/core/origin.hpp>
#include <chorale/core/resumption.hpp>

namespace chorale {

struct attendance_state;
class progress_alarm;

/// Work that was started on a thread and progresses only when driven, such as the nonblocking calls of one
/// communicator. Every wait on that thread drives all enlisted work, so that two communicators cannot
/// deadlock on each other. Belongs to one thread at a time.
class background {
 public:
  background(const background&) = delete;
  background& operator=(const background&) = delete;

  /// What is left of work that was advanced.
  struct remainder {
    static constexpr clock::duration nothing = clock::duration::max();

    /// How long the work has been at its current wait, the shortest time of several; `nothing` if none is
    /// outstanding.
    clock::duration waited = nothing;
    bool may_need_core = false;  ///< it waits for ranks that may need this core: polling loops should yield
  };
  /// Advances all work enlisted on this thread as far as possible without waiting, and calls the answers of
  /// all attendances of this thread. Reentrant calls do nothing. `how`: `polls` or `passes`.
  static remainder advance_all(attention how) noexcept;

  /// The work enlisted on a thread, or on one of several flows of execution that share a thread, such as the
  /// fibers of a simulation.
  class list;
  /// Makes `by` the calling thread's list, or restores its own list if `by` is null. A scheduler of fibers
  /// calls this at each switch.
  static void replace(list* by) noexcept;

  /// Whether the thread drives anything by `while_waiting`: then it must not sleep without `advance_all`.
  [[nodiscard]] static bool drives_others() noexcept;
  /// Throws the exception of a function of `while_waiting`, once. Does nothing inside `advance_all`, where
  /// it would end the call of another communicator.
  static void rethrow_failure();
  [[nodiscard]] static list& mine() noexcept;  ///< the calling thread's list

 protected:
  background() = default;
  ~background() { delist(); }
  /// Adds this work to the thread's list, unless it is on a list already.
  void enlist() noexcept;
  void delist() noexcept;
  [[nodiscard]] bool is_enlisted() const noexcept { return place_ != nullptr; }

  /// What a thread drives by `while_waiting`.
  struct driven {
    int functions = 0;
    int outstanding = 0;  ///< how many of them have work outstanding; read by `clock`
    std::exception_ptr failure;
  };
  [[nodiscard]] static driven& driven_here() noexcept;

 private:
  friend class attendance;
  /// Must not wait. May be called reentrantly, while a call further up the stack is active.
  virtual remainder advance(attention how) noexcept = 0;

  background* next_ = nullptr;
  background** place_ = nullptr;  ///< the pointer that points to this; null if it is on no list
};

/// Calls a function in each wait of a thread, on behalf of an object that is otherwise idle, so that the
/// object needs no thread of its own. Thread-safe.
class attendance {
 public:
  /// `answer` must not wait; it is called on the attending thread, while another thread may be using the
  /// object.
  explicit attendance(std::function<void()> answer);
  attendance(const attendance&) = delete;
  attendance& operator=(const attendance&) = delete;
  /// After it has returned, `answer` is not called again. Must not be called from `answer`.
  ~attendance();
  /// From now on only the calling thread calls `answer`.
  void take_over();

 private:
  std::shared_ptr<attendance_state> state_;
};

class background::list {
 public:
  list();
  list(const list&) = delete;
  list& operator=(const list&) = delete;
  /// Work that outlives its thread is taken off the list.
  ~list();

  /// The coroutines of the program that the thread resumes.
  [[nodiscard]] detail::resumptions& coroutines() noexcept { return coroutines_; }
  /// Whether any work or coroutine of the thread is outstanding.
  [[nodiscard]] bool is_outstanding() const noexcept;
  /// Whether the thread is in `advance_all`.
  [[nodiscard]] bool is_under_way() const noexcept { return under_way_; }
  /// The alarm behind `progress_descriptor`; null if the thread has none, or only that of the parent of a
  /// fork().
  [[nodiscard]] progress_alarm* own_alarm() const noexcept {
    return alarm_ && alarm_.get_deleter().made.is_here() ? alarm_.get() : nullptr;
  }
  /// The same, made if there is none. @throws error with an errno.
  progress_alarm& make_alarm();

 private:
  friend background;
  friend class attendance;
  void prepare_for_work() noexcept;
  void answer_for_attended() noexcept;
  void forget_attended() noexcept;

  background* first_ = nullptr;
  /// Driven next; removing it from the list advances this pointer.
  background* next_ = nullptr;
  bool under_way_ = false;
  driven driven_;
  std::vector<std::shared_ptr<attendance_state>> attended_;
  detail::resumptions coroutines_;
  detail::process_bound_ptr<progress_alarm> alarm_;
};

}  // namespace chorale
