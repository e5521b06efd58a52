// Knows when memory of this process is unmapped, before whoever unmaps it can map something else there.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace chorale::transport {

/// Linux's userfaultfd reports munmap, mremap and madvise(MADV_DONTNEED, MADV_FREE, MADV_REMOVE) of watched
/// memory, and holds the caller up until the report has been read. It is read with the lock held that readers
/// of this object take, so that memory which has been unmapped is known here before the program gets on. One
/// a process, with a thread of its own, which allocates nothing: it may be an allocator that it holds up.
/// Thread-safe.
class unmap_monitor {
 public:
  /// The process's; nullptr where the system does not offer it.
  static std::shared_ptr<unmap_monitor> shared();

  unmap_monitor(const unmap_monitor&) = delete;
  unmap_monitor& operator=(const unmap_monitor&) = delete;
  ~unmap_monitor();

  /// From now on unmapping any of these pages is reported. False if the system cannot watch such memory.
  bool watch(std::uintptr_t first, std::size_t bytes) noexcept;

  /// Calls `use(first, bytes)` for all that was unmapped since the same `reader` asked last; once with
  /// everything if that is too long ago.
  template <class Use>
  void take_unmapped(std::uint64_t& reader, Use&& use) {
    const std::lock_guard lock(mutex_);
    if (count_ - reader > ranges_.size()) {
      reader = count_;
      use(0, static_cast<std::size_t>(-1));
    }
    for (; reader != count_; ++reader) {
      const range& r = ranges_[reader % ranges_.size()];
      use(r.first, r.bytes);
    }
  }
  /// What a new reader begins with.
  [[nodiscard]] std::uint64_t position() {
    const std::lock_guard lock(mutex_);
    return count_;
  }

 private:
  struct range {
    std::uintptr_t first;
    std::size_t bytes;
  };
  explicit unmap_monitor(int fd);
  void run() noexcept;
  void read_events() noexcept;

  int fd_;
  int stop_fd_;
  std::mutex mutex_;
  std::array<range, 1024> ranges_{};
  std::uint64_t count_ = 0;
  std::thread thread_;
};

}  // namespace chorale::transport
