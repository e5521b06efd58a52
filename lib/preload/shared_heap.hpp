// SPDX-License-Identifier: Apache-2.0
// Page-aligned blocks of memory for a preloaded program, from one memfd, so that other processes can map
// them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace chorale::preload {

/// First fit with coalescing. Thread-safe. Blocks are whole pages, and are not zeroed, like those of malloc.
/// In fork() the child gets a copy of all blocks in a memfd of its own, and the parent continues once the
/// copy exists, so both have private memory as after any fork. A child of vfork(), posix_spawn() or a bare
/// clone() that writes to a block before it calls exec() writes to its parent's memory.
class shared_heap {
 public:
  /// The heap of this process: created by the first call, and never destroyed.
  static shared_heap& instance() noexcept;

  /// nullptr, with errno unchanged, if CHORALE_SOFT_SHARE is 0 or there is no room: then use another
  /// allocator.
  void* allocate(std::size_t bytes, std::size_t alignment) noexcept;
  void release(void* block) noexcept;
  /// Size in bytes of the block that begins at `block`; 0 if there is none.
  std::size_t size_of(const void* block) noexcept;

  /// True if the address lies in the heap. Takes no lock.
  static bool owns(const void* address) noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    // Who sees the size sees where it begins: it is stored before.
    const std::size_t bytes = bytes_.load(std::memory_order_acquire);
    return at - begin_.load(std::memory_order_relaxed) < bytes;
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
  int fd_ = -1;                  ///< -1: no new blocks
  int fork_pipe_[2] = {-1, -1};  ///< shows end of file to the parent once the child has its copy or is dead
};

}  // namespace chorale::preload
