// SPDX-License-Identifier: Apache-2.0
// Threads in a user's program that the library starts, directly or through other libraries.
#pragma once

#include <csignal>
#include <functional>
#include <memory>
#include <pthread.h>
#include <thread>
#include <utility>

#include <chorale/core/system_services.hpp>

#include "streams_reserved.hpp"

namespace chorale::detail {

/// During its lifetime this thread, and threads that it starts, block asynchronous signals, which are for the
/// program's own threads. Signals for a thread's own faults stay unblocked: otherwise the kernel kills the
/// process without calling the program's handler.
class signals_blocked {
 public:
  signals_blocked() noexcept {
    sigset_t theirs;
    sigfillset(&theirs);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS})
      sigdelset(&theirs, fault);
    pthread_sigmask(SIG_SETMASK, &theirs, &before_);
  }
  signals_blocked(const signals_blocked&) = delete;
  signals_blocked& operator=(const signals_blocked&) = delete;
  ~signals_blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

/// Starts `run` in a thread that blocks signals. Throws std::system_error as std::thread does.
template <class F>
[[nodiscard]] std::thread start_helper_thread(F&& run) {
  const signals_blocked quiet;
  return std::thread{std::forward<F>(run)};
}

/// Calls `call`, a function of another library, and returns its result. Threads that it starts block signals,
/// and descriptors that it opens are not 0, 1 or 2.
template <class F>
auto foreign_call(F&& call) {
  const signals_blocked quiet;
  return above_streams(std::forward<F>(call));
}

}  // namespace chorale::detail

namespace chorale {

/// Runs `work` in a helper thread, or in its equivalent in a simulation.
[[nodiscard]] std::unique_ptr<helper> start_helper(std::function<void()> work);

}  // namespace chorale
