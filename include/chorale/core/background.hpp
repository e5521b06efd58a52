// SPDX-License-Identifier: Apache-2.0
// A thread's background work, which progresses while the thread waits for something else.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include <chorale/core/attention.hpp>

namespace chorale {

struct attendance_state;

/// Work that was started on a thread and progresses only when driven, such as the nonblocking calls of one
/// communicator. Every wait on that thread drives all enlisted work, so that two communicators cannot
/// deadlock on each other. Belongs to one thread at a time.
class background {
 public:
  background(const background&) = delete;
  background& operator=(const background&) = delete;

  /// Advances all work enlisted on this thread as far as possible without waiting, and calls the answers of
  /// all attendances of this thread. Reentrant calls do nothing. `how`: `polls` or `passes`. @returns true if
  /// any work waits for ranks that may need this core; a caller that polls should then yield.
  static bool advance_all(attention how) noexcept;

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

 protected:
  background() = default;
  ~background() { delist(); }
  /// Adds this work to the thread's list, unless it is on a list already.
  void enlist() noexcept;
  void delist() noexcept;
  [[nodiscard]] bool is_enlisted() const noexcept { return place_ != nullptr; }
  [[nodiscard]] static list& mine() noexcept;

  /// What a thread drives by `while_waiting`.
  struct driven {
    int functions = 0;
    int outstanding = 0;  ///< of these functions, which `clock` reads
    std::exception_ptr failure;
  };
  [[nodiscard]] static driven& driven_here() noexcept;

 private:
  friend class attendance;
  /// Must not wait. May be called reentrantly, while a call further up the stack is active. @returns true if
  /// this work waits for ranks that may need this core.
  virtual bool advance(attention how) noexcept = 0;

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
  /// After it has returned, `answer` is not called any more. Must not be called from `answer`.
  ~attendance();
  /// From now on only the calling thread calls `answer`.
  void take_over();

 private:
  std::shared_ptr<attendance_state> state_;
};

class background::list {
 public:
  list() = default;
  list(const list&) = delete;
  list& operator=(const list&) = delete;
  /// Work that outlives its thread is taken off the list.
  ~list();

 private:
  friend background;
  friend class attendance;
  void answer_for_attended() noexcept;
  void forget_attended() noexcept;

  background* first_ = nullptr;
  /// Driven next; removing it from the list advances this pointer.
  background* next_ = nullptr;
  bool under_way_ = false;
  driven driven_;
  std::vector<std::shared_ptr<attendance_state>> attended_;
};

}  // namespace chorale
