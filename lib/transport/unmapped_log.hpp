// Memory that went away lately.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace chorale::transport {

/// The last thousand ranges that were unmapped, for readers who each come at their own time. Allocates
/// nothing. Thread-safe; no lock is held while a reader acts on a range, since what it does may unmap more.
class unmapped_log {
 public:
  struct range {
    std::uintptr_t first = 0;
    std::size_t bytes = 0;
  };

  void note(range gone) noexcept {
    const std::lock_guard lock(mutex_);
    note_locked(gone);
  }
  /// Notes all that `next` finds, until it finds nothing; nobody reads in between.
  template <class Next>
  void note_all(Next&& next) noexcept {
    const std::lock_guard lock(mutex_);
    for (range gone; next(gone);) note_locked(gone);
  }

  /// Calls `use(first, bytes)` for all that was noted since the same `reader` asked last; once with
  /// everything if that is too long ago.
  template <class Use>
  void take(std::uint64_t& reader, Use&& use) {
    range next;
    while (take_one(reader, next)) use(next.first, next.bytes);
  }
  /// What a new reader begins with.
  [[nodiscard]] std::uint64_t position() const noexcept { return count_.load(std::memory_order_acquire); }

 private:
  void note_locked(range gone) noexcept {
    const auto n = count_.load(std::memory_order_relaxed);
    ranges_[n % ranges_.size()] = gone;
    count_.store(n + 1, std::memory_order_release);
  }
  bool take_one(std::uint64_t& reader, range& next) {
    if (position() == reader) return false;
    const std::lock_guard lock(mutex_);
    const auto n = count_.load(std::memory_order_relaxed);
    if (n - reader > ranges_.size()) {
      reader = n;
      next = {0, static_cast<std::size_t>(-1)};
    } else {
      next = ranges_[reader++ % ranges_.size()];
    }
    return true;
  }

  std::mutex mutex_;
  std::array<range, 1024> ranges_{};
  std::atomic<std::uint64_t> count_{0};
};

}  // namespace chorale::transport
