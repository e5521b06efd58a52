// Time, and giving way to others: whatever the library does with either goes through here.
#pragma once

#include <cstddef>
#include <cstdint>

#include <chorale/core/lean_algorithm.hpp>
#include <chorale/core/lean_chrono.hpp>

namespace chorale {

class time_source;

/// What the library does that takes a processor's time, as far as simulations know it.
enum class host_work : std::uint8_t {
  call,     ///< a collective call, once
  copy,     ///< from memory to memory
  combine,  ///< two operands by an operator
  send,     ///< a message to another rank, besides the calls of verbs, once
  receive,  ///< a message that came into a receive queue, likewise
  own,      ///< the copy of a rank's own block from where it is to where it is wanted
  match,    ///< a message that is found to be the one that somebody receives, as message passing does
};

/// The clock of the library, and its ways of waiting: a steady clock as those of <chrono>, in nanoseconds. It
/// is the machine's, unless the thread has another `time_source`. Thread-safe.
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
  /// Yields the core to others that can run.
  static void give_way() noexcept;
  /// Sleeps for that long at least, or until a signal comes.
  static void sleep_for(duration time) noexcept;
  /// For a thread whose time is replaced: sleeps until somebody calls `changed`, or until `end`; it may
  /// return earlier. Others have files and condition variables for that.
  static void await_change(time_point end) noexcept;
  /// The caller has done that on so many bytes; of `combine`, those of one operand. Nothing where time is
  /// the machine's.
  static void worked(host_work what, std::size_t bytes = 0) noexcept {
    if (is_replaced()) [[unlikely]]
      replaced_worked(what, bytes);
  }
  /// The caller has copied so many bytes: `worked`, and which.
  static void copied(void* to, const void* from, std::size_t bytes) noexcept {
    if (is_replaced()) [[unlikely]]
      replaced_copied(to, from, bytes);
  }
  /// The caller has combined that many bytes of its own with as many of another operand: `worked`, and which.
  static void combined(void* mine, const void* other, std::size_t bytes) noexcept {
    if (is_replaced()) [[unlikely]]
      replaced_combined(mine, other, bytes);
  }
  /// What helpers of this thread sleep for may have come. Nothing where time is the machine's.
  static void changed() noexcept {
    if (is_replaced()) [[unlikely]]
      replaced_changed();
  }

  /// Whether the calling thread has a time source of its own.
  [[nodiscard]] static bool is_replaced() noexcept { return source_ != nullptr; }
  /// From now on the calling thread's time is that of `source`, or of the machine if that is null. Returns
  /// what it was before. A scheduler of fibers calls this at each switch; others use `replaced_clock`.
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

  // Initial-exec: three instructions in any program and library, where the default of position-independent
  // code is a call.
  [[gnu::tls_model("initial-exec")]] static constinit thread_local time_source* source_;
};

/// Where a thread's time comes from if not from the machine: a simulation whose ranks are fibers of one
/// thread. Its functions are called by the threads that have it.
class time_source {
 public:
  [[nodiscard]] virtual clock::time_point now() noexcept = 0;
  /// The caller polls: others run first; if none can, time moves on.
  virtual void give_way() noexcept = 0;
  /// The caller sleeps: others run until `end`, which may have passed already.
  virtual void sleep_until(clock::time_point end) noexcept = 0;
  /// The caller sleeps until something comes that wakes sleepers, such as the event of a completion channel,
  /// or until `end`; it may return earlier.
  virtual void await_change([[maybe_unused]] clock::time_point end) noexcept { give_way(); }
  /// The caller has done work that takes time.
  virtual void worked([[maybe_unused]] host_work what, [[maybe_unused]] std::size_t bytes) noexcept {}
  /// The caller has copied memory.
  virtual void copied([[maybe_unused]] void* to, [[maybe_unused]] const void* from,
                      std::size_t bytes) noexcept {
    worked(host_work::copy, bytes);
  }
  /// The caller has combined what lies in memory.
  virtual void combined([[maybe_unused]] void* mine, [[maybe_unused]] const void* other,
                        std::size_t bytes) noexcept {
    worked(host_work::combine, bytes);
  }
  /// The caller has done something that helpers may sleep for.
  virtual void changed() noexcept {}

 protected:
  time_source() = default;
  time_source(const time_source&) = default;
  time_source& operator=(const time_source&) = default;
  ~time_source() = default;
};

/// The calling thread's time is that of a `time_source` while this lives.
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
  asm volatile("yield");
#endif
}

/// The back-off of a polling loop: pauses first if each rank has a core of its own, then yields the core,
/// then sleeps in short naps, so that a rank that waits for long costs nothing. Spinning before yielding is
/// what costs when ranks outnumber cores. A nap lasts at most a 32nd of the time waited so far.
class backoff {
 public:
  /// Where time is replaced nobody else runs while this thread spins.
  explicit backoff(bool spin) noexcept : spins_left_(spin && !clock::is_replaced() ? spins : 0) {}

  /// Backs off once. Returns true now and then, when the clock and rarer events are to be checked.
  bool operator()() noexcept {
    if (spins_left_ != 0) {
      pause();
      return --spins_left_ % 256 == 0;
    }
    if (nap_ == clock::duration::zero()) {
      clock::give_way();
      return ++yields_ % 8 == 0;
    }
    clock::sleep_for(nap_);
    return true;
  }

  /// Tells it how long the wait has lasted so far: after 5 ms the naps begin.
  void elapsed(clock::duration waited) noexcept {
    if (waited > std::chrono::milliseconds{5}) nap_ = std::min(longest_nap, waited / 32);
  }

 private:
  static constexpr std::uint32_t spins = 4096;
  static constexpr clock::duration longest_nap = std::chrono::milliseconds{1};
  std::uint32_t spins_left_;
  std::uint32_t yields_ = 0;
  clock::duration nap_{};
};

}  // namespace chorale
