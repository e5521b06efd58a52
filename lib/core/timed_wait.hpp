// SPDX-License-Identifier: Apache-2.0
// Timed waits on a condition variable by the thread's clock, real or simulated.
#pragma once

#include <condition_variable>
#include <mutex>
#include <utility>

#include <chorale/core/attention.hpp>
#include <chorale/core/background.hpp>
#include <chorale/core/clock.hpp>

namespace chorale {

/// As `changed.wait_until(lock, end, is_so)`. In simulated time no other thread could notify this one, and a
/// thread that drives others must not sleep for long: these poll instead, releasing the lock while they
/// yield. `drives`: false in the device, which knows no such threads.
template <bool drives = true, class Predicate>
bool wait_until(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, clock::time_point end,
                Predicate is_so) {
  bool polls = clock::is_replaced();
  if constexpr (drives) polls = polls || background::drives_others();
  if (!polls) return changed.wait_until(lock, end, std::move(is_so));
  const auto begin = clock::now();
  for (backoff pace{false}; !is_so(); pace.elapsed(clock::now() - begin)) {
    if (clock::now() >= end) return false;
    lock.unlock();
    if constexpr (drives) {
      if (background::drives_others()) background::advance_all(attention::passes);
    }
    static_cast<void>(pace());
    lock.lock();
  }
  return true;
}

/// The same for a duration from now.
template <bool drives = true, class Predicate>
bool wait_for(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, clock::duration longest,
              Predicate is_so) {
  return chorale::wait_until<drives>(changed, lock, clock::now() + longest, std::move(is_so));
}

}  // namespace chorale
