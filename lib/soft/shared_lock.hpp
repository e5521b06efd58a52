// SPDX-License-Identifier: Apache-2.0
// A lock in memory shared by processes, which survives the death of its holder.
#pragma once

#include <atomic>
#include <cstdint>

namespace chorale::soft {

/// Maximum wait for a live holder: only a stopped process holds a lock that long.
inline constexpr std::int64_t lock_patience_ns = 5'000'000'000;

struct segment;

/// The word: the lower half is the owner (0 = free, otherwise slot + 1 and the slot's generation), the upper
/// half counts acquisitions, so that an observer can distinguish one hold from the next. Critical sections
/// publish last: a dead holder leaves consistent data, or its successor repairs them.
///
/// Writer: a holder: the guarded data, then the owner 0.
/// Reader: the next holder: itself as the owner, then the guarded data; or a process that awaits the release.
/// Pair: release and acquire of the word. For a store before awaiting the release: `orders::behind_lock`.
struct shared_lock {
  std::atomic<std::uint64_t> word;

  static constexpr std::uint32_t owner(std::uint64_t value) noexcept {
    return static_cast<std::uint32_t>(value);
  }
  static constexpr std::uint32_t hold(std::uint64_t value) noexcept {
    return static_cast<std::uint32_t>(value >> 32);
  }
  static constexpr std::uint64_t next(std::uint64_t value, std::uint32_t me) noexcept {
    return (((value >> 32) + 1) << 32) | me;
  }

  bool try_lock(std::uint32_t me) noexcept {
    std::uint64_t seen = word.load(std::memory_order_relaxed);
    return owner(seen) == 0 && word.compare_exchange_strong(seen, next(seen, me), std::memory_order_seq_cst);
  }
  /// False if a live holder keeps the lock for longer than `patience_ns`. `written`: the segment that holders
  /// copy into, if any: before the lock is taken over from a dead holder, copies that the segment's owner
  /// makes for it are completed.
  bool lock(std::uint32_t me, std::int64_t patience_ns = lock_patience_ns,
            segment* written = nullptr) noexcept {
    return try_lock(me) || lock_contended(me, patience_ns, written);
  }
  void unlock() noexcept {
    word.store((word.load(std::memory_order_relaxed) >> 32) << 32, std::memory_order_release);
  }
  /// Waits until the current holder has released the lock. False as for `lock`.
  bool await_release() noexcept;

 private:
  bool lock_contended(std::uint32_t me, std::int64_t patience_ns, segment* written) noexcept;
};
static_assert(sizeof(shared_lock) == 8 && std::atomic<std::uint64_t>::is_always_lock_free);

/// Holds a `shared_lock` for a scope; test with `if (!guard)` whether it was acquired.
class lock_guard {
 public:
  lock_guard(shared_lock& lock, std::uint32_t me, std::int64_t patience_ns = lock_patience_ns,
             segment* written = nullptr) noexcept
      : lock_(lock.lock(me, patience_ns, written) ? &lock : nullptr) {}
  /// Waits for a stopped holder as long as `is_over` is false.
  lock_guard(shared_lock& lock, std::uint32_t me, const std::atomic<bool>& is_over) noexcept {
    while (lock_ == nullptr) {
      if (lock.lock(me))
        lock_ = &lock;
      else if (is_over.load())
        return;
    }
  }
  ~lock_guard() {
    if (lock_ != nullptr) lock_->unlock();
  }
  lock_guard(const lock_guard&) = delete;
  lock_guard& operator=(const lock_guard&) = delete;
  explicit operator bool() const noexcept { return lock_ != nullptr; }

 private:
  shared_lock* lock_ = nullptr;
};

/// Back-off in a wait loop: pauses, then yields, then naps of 50 us.
void back_off(unsigned round) noexcept;
/// `clock::now()` in nanoseconds: CLOCK_MONOTONIC, unless the thread's time is simulated.
std::int64_t now_ns() noexcept;

}  // namespace chorale::soft
