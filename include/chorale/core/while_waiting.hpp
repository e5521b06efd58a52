// SPDX-License-Identifier: Apache-2.0
// What else a thread drives while it waits in Chorale.
#pragma once

#include <functional>

#include <chorale/core/attention.hpp>
#include <chorale/core/background.hpp>

namespace chorale {

/// During its lifetime, the waits of this thread also drive another library, such as MPI or a task runtime,
/// whose work other ranks may need before they come to the call that this one waits for:
/// `const chorale::while_waiting mpi{[&] { int is_over = 0; MPI_Test(&sent, &is_over, MPI_STATUS_IGNORE);
/// return is_over == 0; }};`. Every wait of the thread that made it, unless it ends at once, calls the
/// function repeatedly: waits for calls and requests on any communicator, for windows and credits, and while
/// communicators are made and destroyed; `test`, `test_all` and `progress` may call it, too. It does not
/// affect other threads. If a thread has several, all are called, in any order; they may end in any order.
///
/// The function returns whether it has work outstanding. While any does, the thread keeps its core and only
/// yields it; otherwise a wait of more than 5 ms naps for up to 1 ms between two calls of the function.
///
/// The function should not block: while it runs, nothing of Chorale progresses on this thread. It may use
/// other communicators than that of the call which waits; that one throws errc::misuse. It is not called
/// inside itself. Its exception ends the call that waits, as one of a stall handler does, so that the
/// communicator is poisoned; the function is not called again. If that wait cannot fail (in destructors,
/// while communicators are made, in `progress`), the next wait of the thread fails instead, unless this
/// object has ended.
///
/// It is neither copied nor moved. Like a thread that was not joined, it ends the program (std::terminate) if
/// it is destroyed by its own function, or by another thread while its own thread is alive.
class while_waiting final : private background {
 public:
  /// @throws error errc::invalid_argument if `drive` is empty.
  [[nodiscard]] explicit while_waiting(std::function<bool()> drive);
  while_waiting(const while_waiting&) = delete;
  while_waiting& operator=(const while_waiting&) = delete;
  ~while_waiting();

 private:
  remainder advance(attention how) noexcept override;
  void set_outstanding(bool is) noexcept;
  void leave() noexcept;

  std::function<bool()> drive_;
  const list* const of_;
  bool is_called_ = false;
  bool is_outstanding_ = false;
  bool has_failed_ = false;
};

}  // namespace chorale
