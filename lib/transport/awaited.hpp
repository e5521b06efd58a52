// One attempt at something that a peer sends, and that a rank waits for.
#pragma once

#include <cstdint>
#include <mutex>

namespace chorale::transport {

/// How something that is awaited stands.
enum class presence {
  absent,
  here,
  of_another_call,  ///< and not of the call that awaits it
};
struct finding {
  presence what = presence::absent;
  std::uint32_t seen = 0;  ///< of another call: of which, as far as 32 bits tell
};

/// True if `take()`, which gives a `finding` or a `presence`, finds it here, at once or after `read()`. While
/// it is absent `await()` is told. What is of another call is told to `doubt(seen)`, without the lock, and
/// looked at again by the next attempt.
template <class Lock, class Take, class Read, class Await, class Doubt>
[[gnu::always_inline]] inline bool take_awaited(Lock& lock, const Take& take, const Read& read,
                                                const Await& await, const Doubt& doubt) {
  finding found;
  {
    const std::lock_guard hold{lock};
    found = finding{take()};
    if (found.what == presence::absent) {
      read();
      found = finding{take()};
      if (found.what == presence::absent) {
        await();
        return false;
      }
    }
  }
  if (found.what == presence::here) [[likely]]
    return true;
  doubt(found.seen);
  return false;
}

}  // namespace chorale::transport
