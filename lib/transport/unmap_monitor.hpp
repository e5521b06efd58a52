// Knows when memory of this process is unmapped, before whoever unmaps it can map something else there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>

#include "unmapped_log.hpp"

namespace chorale::transport {

/// Linux's userfaultfd reports munmap, mremap and madvise(MADV_DONTNEED, MADV_FREE, MADV_REMOVE) of watched
/// memory, and holds the caller up until the report has been read. It is read with the lock held that readers
/// of this object take, so that what a thread has unmapped is known here before that thread goes on. (Another
/// thread that maps memory at the same address in the instant between the kernel's unmapping and its report,
/// and communicates with it, is not covered.) One a process, with a thread of its own, which allocates
/// nothing: it may be an allocator that it holds up. Thread-safe.
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
  /// everything if that is too long ago. What other threads have just unmapped is asked for as well.
  template <class Use>
  void take_unmapped(std::uint64_t& reader, Use&& use) {
    read_events();
    log_.take(reader, std::forward<Use>(use));
  }
  /// What a new reader begins with.
  [[nodiscard]] std::uint64_t position() const noexcept { return log_.position(); }

 private:
  explicit unmap_monitor(int fd);
  void run() noexcept;
  void read_events() noexcept;

  int fd_;
  int stop_fd_;
  unmapped_log log_;
  std::thread thread_;
};

}  // namespace chorale::transport
