// SPDX-License-Identifier: Apache-2.0
// Memory regions: keys, bounds, rights, and the local mapping of a target's memory.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "copy.hpp"
#include "objects.hpp"

namespace chorale::soft {

/// A cached lookup of a region of some process. Valid while its record still has this generation.
struct region_view {
  const peer* owner = nullptr;
  std::uint32_t key = 0;
  std::uint32_t generation = 0;
  std::uint32_t access = 0;
  std::uint32_t pd = 0;
  std::uint64_t begin = 0;
  std::uint64_t length = 0;
  unsigned char* mapped = nullptr;  ///< local address of `begin`
  /// The same for atomic operations, which use the mapping regardless of CHORALE_SOFT_COPY, as in all other
  /// processes.
  unsigned char* word_access = nullptr;
  bool remote_key = false;
  bool shared_memory = false;  ///< every process of the fabric can map it

  [[nodiscard]] bool covers(std::uint64_t address, std::uint64_t bytes) const noexcept {
    return address >= begin && bytes <= length && address - begin <= length - bytes;
  }
  [[nodiscard]] remote_piece piece(std::uint64_t address, std::uint64_t bytes) const noexcept {
    return {address, bytes, mapped == nullptr ? nullptr : mapped + (address - begin), key};
  }
};

/// The regions that a QP used last. Not thread-safe: guarded by the QP's send lock.
class region_cache {
 public:
  /// The region of `target` with this key; nullptr if there is none.
  const region_view* find(process& self, peer& target, std::uint32_t key) noexcept {
    const region_view& seen = views_[key >> 16 & 7U];
    if (seen.key == key && seen.owner == &target &&
        target.regions[key >> 16].generation.load(orders::behind_lock) == seen.generation)
      return &seen;
    return look_up(self, target, key, views_[key >> 16 & 7U]) ? &views_[key >> 16 & 7U] : nullptr;
  }

 private:
  static bool look_up(process& self, peer& target, std::uint32_t key, region_view& view) noexcept;
  std::array<region_view, 8> views_{};
};

/// True if a local key of this process permits these rights (IBV_ACCESS_*) for the range. `own`: its regions.
bool local_range(const mr_record* own, const ibv_sge& range, std::uint32_t pd, std::uint32_t access) noexcept;

ibv_pd* alloc_pd(ibv_context* c) noexcept;
int dealloc_pd(ibv_pd* pd) noexcept;
ibv_mr* reg_mr(ibv_pd* pd, void* address, std::size_t bytes, int access) noexcept;
int dereg_mr(ibv_mr* mr) noexcept;
/// For the fork handlers, which hold the lock of the allocation table during fork().
std::mutex& allocations_lock() noexcept;

/// Registers memory of this process that others can map: `fd`, from `create_memory`, is mapped whole at
/// `address`. False if out of memory.
bool adopt_memory(void* address, std::size_t bytes, int fd, std::uint64_t inode) noexcept;
/// In a forked child, from its only thread: `address` now holds other memory; fd -1: memory that other
/// processes cannot map.
void readopt_memory(void* address, int fd, std::uint64_t inode) noexcept;
/// In a forked child, from its only thread: writes to memory from `allocate` stay in this process from now
/// on. Until the child writes to a page, it sees what the parent writes there.
void part_from_parents_memory() noexcept;

/// Memory that is faulted in before it is used, up to a bound. The mailbox of a communicator consists of
/// hundreds of blocks that are used in turn, each of which would otherwise cost a page fault or two at its
/// first use, several times as much as a short message. Thread-safe.
class prefaulted_memory {
 public:
  /// Faults the pages in, unless they are too many. @returns whether they count until `remove`.
  bool add(void* address, std::uint64_t bytes) noexcept;
  void remove(std::uint64_t bytes) noexcept { bytes_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> bytes_{0};
};

void* allocate(ibv_context* c, std::size_t bytes) noexcept;
int release(ibv_context* c, void* address, std::size_t bytes) noexcept;

}  // namespace chorale::soft
