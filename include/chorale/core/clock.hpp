// Deadlines, and the ladder of spinning, yielding and sleeping.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <sched.h>

namespace chorale {

using steady = std::chrono::steady_clock;

/// Tells the core that this is a polling loop.
inline void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// What a waiter does between two looks at memory: pauses first if each rank has a core of its own, then
/// gives the core away, then naps, so that a rank that waits for long costs nothing. Spinning before
/// yielding is what costs when ranks outnumber cores. A nap is at most a 32nd of the time waited so far.
class backoff {
 public:
  explicit backoff(bool spin) noexcept : spin_(spin) {}

  /// Gives way once. Returns true now and then: time to look at the clock and at rarer events.
  bool operator()() noexcept {
    ++steps_;
    if (spin_ && steps_ < spins) {
      pause();
      return steps_ % 256 == 0;
    }
    if (nap_ns_ == 0) {
      sched_yield();
      return steps_ % 8 == 0;
    }
    timespec t{0, nap_ns_};
    nanosleep(&t, nullptr);
    return true;
  }

  /// To be told how long the wait has lasted: after 5 ms the naps begin.
  void elapsed(steady::duration waited) noexcept {
    if (waited > std::chrono::milliseconds{5})
      nap_ns_ = std::min<long>(longest_nap_ns, std::chrono::nanoseconds{waited}.count() / 32);
  }

 private:
  static constexpr std::uint64_t spins = 4096;
  static constexpr long longest_nap_ns = 1'000'000;
  bool spin_;
  std::uint64_t steps_ = 0;
  long nap_ns_ = 0;
};

}  // namespace chorale
