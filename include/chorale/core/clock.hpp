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
/// gives the core away, then naps for longer and longer (50 us to 1 ms), so that a rank that waits for
/// long costs nothing. Spinning before yielding is what costs when ranks outnumber cores.
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
    if (naps_ == 0) {
      sched_yield();
      return true;
    }
    nap_ = std::min(nap_ * 2, longest_nap);
    timespec t{0, nap_};
    nanosleep(&t, nullptr);
    return true;
  }

  /// To be told when the wait has lasted `waited`: after 5 ms the naps begin.
  void elapsed(steady::duration waited) noexcept {
    if (waited > std::chrono::milliseconds{5}) naps_ = 1;
  }

 private:
  static constexpr std::uint64_t spins = 4096;
  static constexpr long longest_nap = 1'000'000;
  bool spin_;
  int naps_ = 0;
  std::uint64_t steps_ = 0;
  long nap_ = 25'000;
};

}  // namespace chorale
