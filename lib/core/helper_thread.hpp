// Helper threads that the library starts in a user's program.
#pragma once

#include <csignal>
#include <functional>
#include <memory>
#include <pthread.h>
#include <thread>
#include <utility>

#include <chorale/core/surroundings.hpp>

namespace chorale::detail {

/// Starts `run` in a thread that blocks asynchronous signals, which are for the program's own threads.
/// Signals for the thread's own faults stay unblocked: otherwise the kernel kills the process without calling
/// the program's handler. Throws std::system_error as std::thread does.
template <class F>
[[nodiscard]] std::thread start_helper_thread(F&& run) {
  sigset_t theirs;
  sigset_t before;
  sigfillset(&theirs);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS})
    sigdelset(&theirs, fault);
  pthread_sigmask(SIG_SETMASK, &theirs, &before);
  struct restore {
    const sigset_t* mask;
    ~restore() { pthread_sigmask(SIG_SETMASK, mask, nullptr); }
  } const restored{&before};
  return std::thread{std::forward<F>(run)};
}

}  // namespace chorale::detail

namespace chorale {

/// The same, or its equivalent in a simulation.
[[nodiscard]] std::unique_ptr<helper> start_helper(std::function<void()> work);

}  // namespace chorale
