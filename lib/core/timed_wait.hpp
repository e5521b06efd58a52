// SPDX-License-Identifier: Apache-2.0
// Timed waits on a condition variable by the thread's clock, real or simulated.
#pragma once

#include <condition_variable>
#include <mutex>
#include <utility>

#include <chorale/core/clock.hpp>

namespace chorale {

/// As `changed.wait_until(lock, end, is_so)`. In simulated time no other thread could notify this one, so it
/// polls instead, releasing the lock while it yields.
template <class Predicate>
bool wait_until(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, clock::time_point end,
                Predicate is_so) {
  if (!clock::is_replaced()) return changed.wait_until(lock, end, std::move(is_so));
  const auto begin = clock::now();
  for (backoff pace{false}; !is_so(); pace.elapsed(clock::now() - begin)) {
    if (clock::now() >= end) return false;
    lock.unlock();
    static_cast<void>(pace());
    lock.lock();
  }
  return true;
}

/// The same for a duration from now.
template <class Predicate>
bool wait_for(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, clock::duration longest,
              Predicate is_so) {
  return wait_until(changed, lock, clock::now() + longest, std::move(is_so));
}

}  // namespace chorale
