// The background of a thread: work that makes progress while the thread waits for something else.
#pragma once

#include <chorale/core/attention.hpp>

namespace chorale {

/// Work that was started on a thread and makes progress only when it is driven, such as the nonblocking calls
/// of one communicator. Whoever waits on that thread, for whatever, drives all that is enlisted, so that two
/// communicators cannot wait for each other. Belongs to one thread at a time.
class background {
 public:
  background(const background&) = delete;
  background& operator=(const background&) = delete;

  /// Lets everything that is enlisted on this thread make what progress it can without waiting. Does nothing
  /// when it is called from inside itself. `how`: polls or passes.
  static void get_on_with_all(attention how) noexcept;

  /// What is enlisted on a thread, or on one of several flows of execution that share a thread, such as the
  /// fibers of a simulation.
  class list;
  /// From now on the calling thread's list is `by`, or its own if that is null. A scheduler of fibers calls
  /// this at each switch.
  static void replace(list* by) noexcept;

 protected:
  background() = default;
  ~background() { delist(); }
  /// On the list of this thread; at most once.
  void enlist() noexcept;
  void delist() noexcept;

 private:
  static list& mine() noexcept;
  /// Must not wait, and may be called while it is already under way further out on the stack.
  virtual void get_on(attention how) noexcept = 0;

  background* next_ = nullptr;
  background** place_ = nullptr;  ///< the pointer that leads here; null if it is on no list
};

class background::list {
 public:
  list() = default;
  list(const list&) = delete;
  list& operator=(const list&) = delete;
  /// What outlives its thread is on no list.
  ~list();

 private:
  friend background;
  background* first_ = nullptr;
  /// The one whose turn is next; one that leaves the list in between moves it on.
  background* next_ = nullptr;
  bool under_way_ = false;
};

}  // namespace chorale
