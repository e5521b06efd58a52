// SPDX-License-Identifier: Apache-2.0
// Memory of a preloaded program that other processes can map: page-aligned blocks out of one memfd.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace chorale::preload {

/// First fit with coalescing. Any thread. Blocks are whole pages and hold what was there before, as malloc's
/// do. fork(): the child gets a copy of all blocks in a memfd of its own, and the parent goes on once that is
/// made, so both see private memory as after any fork. A child of vfork(), posix_spawn() or a bare clone()
/// that writes to a block before it calls exec writes to its parent's.
class shared_heap {
 public:
  /// The heap of this process, which nothing destroys. The first call makes it.
  static shared_heap& instance() noexcept;

  /// nullptr (errno untouched) if CHORALE_SOFT_SHARE is 0, or there is no room: use another allocator then.
  void* allocate(std::size_t bytes, std::size_t alignment) noexcept;
  void release(void* block) noexcept;
  /// Bytes of the block that begins at `block`; 0 if none does.
  std::size_t size_of(const void* block) noexcept;

  /// True if the address lies in the heap. No lock.
  static bool owns(const void* address) noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return at - begin_.load(std::memory_order_relaxed) < bytes_.load(std::memory_order_relaxed);
  }

 private:
  shared_heap() noexcept;
  static void before_fork() noexcept;
  static void after_fork_parent() noexcept;
  static void after_fork_child() noexcept;
  bool move_to_own_memory() noexcept;
  bool copy_into(int fd, std::uint64_t offset, std::uint64_t bytes) const noexcept;

  static inline std::atomic<std::uintptr_t> begin_{0};
  static inline std::atomic<std::size_t> bytes_{0};

  std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> free_;  ///< offset -> bytes
  std::map<std::uint64_t, std::uint64_t> used_;
  int fd_ = -1;
  int fork_pipe_[2] = {-1, -1};  ///< the parent reads its end of file when the child has its copy, or is dead
};

}  // namespace chorale::preload
