// SPDX-License-Identifier: Apache-2.0
// Keeps pthread_cancel() from ending a thread inside the library.
#pragma once

#include <pthread.h>

namespace chorale::detail {

/// Defers pthread_cancel() of the calling thread during its lifetime. Most functions of the library are
/// noexcept, and forced unwinding cannot pass coroutine frames, so a cancellation would end the program.
/// Every part of a call with a cancellation point (pthreads(7): sleeping, opening, closing, writing, msync)
/// constructs such an object, so that the call ends before its thread; calls without cancellation points do
/// not pay for it.
class [[nodiscard]] uncancellable {
 public:
  uncancellable() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  uncancellable(const uncancellable&) = delete;
  uncancellable& operator=(const uncancellable&) = delete;
  ~uncancellable() { pthread_setcancelstate(before_, nullptr); }

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace chorale::detail
