// A thread is not ended by pthread_cancel() in the middle of the library.
#pragma once

#include <pthread.h>

namespace chorale::detail {

/// Defers pthread_cancel() of the calling thread during its lifetime. Most functions here are noexcept, and
/// frames of coroutines cannot be unwound by force: a cancellation would end the program. Whatever of a call
/// contains a cancellation point (pthreads(7): sleeping, opening, closing, writing, msync) has one, so that
/// the call ends first and its thread afterwards; a call that has none of these does not pay for it.
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
