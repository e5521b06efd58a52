// SPDX-License-Identifier: Apache-2.0
// The library's only access to time, sleeping and yielding.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace chorale {

class time_source;

/// CPU work of the library that a simulation charges time for.
enum class host_work : std::uint8_t {
  call,     ///< a collective call, once
  copy,     ///< from memory to memory
  combine,  ///< combining two operands with an operator
  send,     ///< sending a message to another rank, once, besides the verbs calls
  receive,  ///< receiving a message from a receive queue, once, besides the verbs calls
  own,      ///< copying a rank's own block to its place in the result
  match,    ///< matching a message to its receive, as in message passing
};

/// The clock of the library, and its ways to wait: a steady clock as in <chrono>, in nanoseconds. It is the
/// machine's clock unless the thread has a `time_source`. Thread-safe.
class clock {
 public:
  using duration = std::chrono::steady_clock::duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::steady_clock::time_point;
  static constexpr bool is_steady = true;

  [[nodiscard]] static time_point now() noexcept {
    if (is_replaced()) [[unlikely]]
      return replaced_now();
    return std::chrono::steady_clock::now();
  }
  /// Yields the core to other runnable threads; under a real-time scheduling policy it naps instead.
  static void give_way() noexcept;
  /// Sleeps for at least `time`, or until a signal arrives.
  static void sleep_for(duration time) noexcept;
  /// For a thread with a `time_source`: sleeps until a call of `changed` or until `end`; may return early.
  /// Other threads use file descriptors and condition variables instead.
  static void await_change(time_point end) noexcept;
  /// Reports that the caller has done `what` on `bytes` bytes (for `combine`: of one operand). Does nothing
  /// in real time.
  static void worked(host_work what, std::size_t bytes = 0) noexcept {
    if (is_replaced()) [[unlikely]]
      replaced_worked(what, bytes);
  }
  /// Reports that the caller has copied `bytes` bytes: as `worked`, with their addresses.
  static void copied(void* to, const void* from, std::size_t bytes) noexcept {
    if (is_replaced()) [[unlikely]]
      replaced_copied(to, from, bytes);
  }
  /// Reports that the caller has combined `bytes` bytes of `mine` with as many of `other`: as `worked`, with
  /// their addresses.
  static void combined(void* mine, const void* other, std::size_t bytes) noexcept {
    if (is_replaced()) [[unlikely]]
      replaced_combined(mine, other, bytes);
  }
  /// Wakes this thread's sleeping helpers, since the event they wait for may have happened. Does nothing in
  /// real time.
  static void changed() noexcept {
    if (is_replaced()) [[unlikely]]
      replaced_changed();
  }

  /// Whether the calling thread has a `time_source`.
  [[nodiscard]] static bool is_replaced() noexcept { return source_ != nullptr; }
  /// While `*count` is not zero, back-offs of this thread yield instead of napping; with a null `count` they
  /// may nap. For `background`, which counts outstanding work.
  static void stay_awake_for(const int* count) noexcept { awake_for_ = count; }
  [[nodiscard]] static bool may_nap() noexcept { return awake_for_ == nullptr || *awake_for_ == 0; }
  /// Makes `source` the calling thread's time source, or restores the machine's clock if it is null. Returns
  /// the previous one. A scheduler of fibers calls this at each switch; others use `replaced_clock`.
  static time_source* replace(time_source* source) noexcept {
    time_source* const before = source_;
    source_ = source;
    return before;
  }

 private:
  [[nodiscard]] static time_point replaced_now() noexcept;
  static void replaced_worked(host_work what, std::size_t bytes) noexcept;
  static void replaced_copied(void* to, const void* from, std::size_t bytes) noexcept;
  static void replaced_combined(void* mine, const void* other, std::size_t bytes) noexcept;
  static void replaced_changed() noexcept;

  // Initial-exec: an access takes three instructions in any program or library, where the default for
  // position-independent code is a function call.
  [[gnu::tls_model("initial-exec")]] static constinit thread_local time_source* source_;
  [[gnu::tls_model("initial-exec")]] static constinit thread_local const int* awake_for_;
};

/// Replaces the machine's clock for a thread: a simulation whose ranks are fibers of one thread. Its
/// functions are called by the threads that use it.
class time_source {
 public:
  [[nodiscard]] virtual clock::time_point now() noexcept = 0;
  /// The caller polls: runs others first; if none can run, time advances.
  virtual void give_way() noexcept = 0;
  /// The caller sleeps: runs others until `end`, which may have passed already.
  virtual void sleep_until(clock::time_point end) noexcept = 0;
  /// The caller sleeps until an event wakes sleepers, such as that of a completion channel, or until `end`;
  /// may return early.
  virtual void await_change([[maybe_unused]] clock::time_point end) noexcept { give_way(); }
  /// The caller has done work that takes time.
  virtual void worked([[maybe_unused]] host_work what, [[maybe_unused]] std::size_t bytes) noexcept {}
  /// The caller has copied memory.
  virtual void copied([[maybe_unused]] void* to, [[maybe_unused]] const void* from,
                      std::size_t bytes) noexcept {
    worked(host_work::copy, bytes);
  }
  /// The caller has combined operands in memory.
  virtual void combined([[maybe_unused]] void* mine, [[maybe_unused]] const void* other,
                        std::size_t bytes) noexcept {
    worked(host_work::combine, bytes);
  }
  /// The caller has done something that helpers may be waiting for.
  virtual void changed() noexcept {}

 protected:
  time_source() = default;
  time_source(const time_source&) = default;
  time_source& operator=(const time_source&) = default;
  ~time_source() = default;
};

/// Replaces the calling thread's clock by a `time_source` during its lifetime.
class [[nodiscard]] replaced_clock {
 public:
  explicit replaced_clock(time_source& source) noexcept : before_(clock::replace(&source)) {}
  ~replaced_clock() { clock::replace(before_); }
  replaced_clock(const replaced_clock&) = delete;
  replaced_clock& operator=(const replaced_clock&) = delete;

 private:
  time_source* before_;
};

/// The processor's hint that this is a polling loop.
inline void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");  // some 40 ns; `yield` does nothing on cores with one thread
#elif defined(__powerpc64__)
  asm volatile("or 27,27,27");
#endif
}

/// The back-off of a polling loop: it first pauses if each rank has its own core, then yields the core, then
/// takes short naps, so that a rank that waits for long costs nothing. Spinning before yielding is expensive
/// when ranks outnumber cores. A nap lasts at most 1/32 of the time waited so far; it only yields while
/// something that the thread drives by `while_waiting` is outstanding.
class backoff {
 public:
  /// Never spins in simulated time, where no other rank runs meanwhile.
  explicit backoff(bool spin) noexcept : spins_left_(spin && !clock::is_replaced() ? spins : 0) {}

  /// Backs off once. Occasionally returns true: then check the clock and rare events.
  bool operator()() noexcept {
    if (spins_left_ != 0) {
      pause();
      return --spins_left_ % 256 == 0;
    }
    if (nap_ == clock::duration::zero()) {
      clock::give_way();
      return ++yields_ % 8 == 0;
    }
    nap();
    return true;
  }

  /// Sets how long the wait has lasted so far: after 5 ms the naps begin.
  void elapsed(clock::duration waited) noexcept {
    if (waited > std::chrono::milliseconds{5}) nap_ = std::min(longest_nap, waited / 32);
  }

 private:
  void nap() const noexcept;

  static constexpr std::uint32_t spins = 4096;
  static constexpr clock::duration longest_nap = std::chrono::milliseconds{1};
  std::uint32_t spins_left_;
  std::uint32_t yields_ = 0;
  clock::duration nap_{};
};

}  // namespace chorale
