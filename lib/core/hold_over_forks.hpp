// SPDX-License-Identifier: Apache-2.0
// Locks that a child of fork() finds free.
#pragma once

#include <mutex>
#include <pthread.h>

namespace chorale::detail {

/// From now on fork() waits until no thread holds `lock`, so that a child finds neither the lock held by a
/// thread that does not exist there, nor what it protects half changed. To be called when the library is
/// loaded. Whoever holds `lock` must not fork. If there is no memory for the handlers, forks do not wait.
template <std::mutex& lock>
void hold_over_forks() noexcept {
  static_cast<void>(pthread_atfork([] { lock.lock(); }, [] { lock.unlock(); }, [] { lock.unlock(); }));
}

}  // namespace chorale::detail
