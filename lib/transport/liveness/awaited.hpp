// SPDX-License-Identifier: Apache-2.0
// One attempt to receive the data that a rank waits for.
#pragma once

#include <cstdint>
#include <mutex>

namespace chorale::transport {

/// The state of awaited data.
enum class presence {
  absent,
  here,
  of_another_call,  ///< it belongs to another call
};
struct finding {
  presence what = presence::absent;
  std::uint32_t seen = 0;  ///< for another call: the lower 32 bits of its number
};

/// True if `take()`, which returns a `finding` or a `presence`, finds the awaited data, at once or after
/// `read()`. What `take()` examines changes only under the lock: so if `read()` returns false, which means
/// that nothing had arrived, there is no second `take()`. Calls `await()` if the data is absent. If it
/// belongs to another call, calls `mismatch(seen)` without the lock; the next attempt checks again.
template <class Lock, class Take, class Read, class Await, class Mismatch>
[[gnu::always_inline]] inline bool take_awaited(Lock& lock, const Take& take, const Read& read,
                                                const Await& await, const Mismatch& mismatch) {
  finding found;
  {
    const std::lock_guard hold{lock};
    found = finding{take()};
    if (found.what == presence::absent) {
      if (read()) found = finding{take()};
      if (found.what == presence::absent) {
        await();
        return false;
      }
    }
  }
  if (found.what == presence::here) [[likely]]
    return true;
  mismatch(found.seen);
  return false;
}

}  // namespace chorale::transport
