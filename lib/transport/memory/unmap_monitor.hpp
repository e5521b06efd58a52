// SPDX-License-Identifier: Apache-2.0
// Reports unmapped memory of this process before other memory can be mapped at the same address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>

#include <chorale/core/origin.hpp>

#include "../../core/process_fd.hpp"
#include "unmapped_log.hpp"

namespace chorale::transport {

/// Linux's userfaultfd reports munmap, mremap and madvise(MADV_DONTNEED, MADV_FREE, MADV_REMOVE) of watched
/// memory, and blocks the caller until the report has been read. Reports are read under the lock that readers
/// of this object take, so that an unmapping is known here before the thread that made it continues. (Not
/// covered: another thread that maps memory at the same address between the kernel's unmapping and its
/// report, and communicates with it.) One per process, with its own thread, which allocates nothing, since an
/// allocator may be waiting for it. Thread-safe.
class unmap_monitor {
 public:
  /// The instance of the process; nullptr if the system does not support it.
  static std::shared_ptr<unmap_monitor> shared();

  unmap_monitor(const unmap_monitor&) = delete;
  unmap_monitor& operator=(const unmap_monitor&) = delete;
  ~unmap_monitor();

  /// Starts reporting unmappings of these pages. False if the system cannot watch such memory.
  bool watch(std::uintptr_t first, std::size_t bytes) noexcept;

  /// Calls `use(first, bytes)` for all ranges unmapped since the last call with this `reader`; once for the
  /// whole address space if that is too long ago. Includes ranges that other threads have just unmapped.
  template <class Use>
  void take_unmapped(std::uint64_t& reader, Use&& use) {
    read_events();
    log_.take(reader, std::forward<Use>(use));
  }
  /// Initial value of a reader.
  [[nodiscard]] std::uint64_t position() const noexcept { return log_.position(); }

 private:
  explicit unmap_monitor(int fd);
  [[nodiscard]] bool is_here() const noexcept { return made_.is_here(); }
  void run() noexcept;
  void read_events() noexcept;

  /// A child that kept it would keep the watch over the memory of its parent, which would wait for ever in
  /// munmap() once it has closed its own copy and nobody reads what the kernel reports.
  detail::process_fd fd_;
  int stop_fd_;
  unmapped_log log_;
  std::thread thread_;
  detail::origin made_;
};

}  // namespace chorale::transport
