// SPDX-License-Identifier: Apache-2.0
// A log of recently unmapped memory.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace chorale::transport {

/// The last thousand unmapped ranges, for readers that read at different times. Allocates nothing.
/// Thread-safe; holds no lock while a reader handles a range, since that may unmap more.
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
  /// Adds all ranges that `next` returns, until it returns none; readers are locked out meanwhile.
  template <class Next>
  void note_all(Next&& next) noexcept {
    const std::lock_guard lock(mutex_);
    for (range gone; next(gone);) note_locked(gone);
  }

  /// Calls `use(first, bytes)` for all ranges added since the last call with this `reader`; once for the
  /// whole address space if that is too long ago.
  template <class Use>
  void take(std::uint64_t& reader, Use&& use) {
    range next;
    while (take_one(reader, next)) use(next.first, next.bytes);
  }
  /// Initial value of a reader.
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
