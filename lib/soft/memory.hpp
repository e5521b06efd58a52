// Memory regions: keys, bounds, rights, and where a target's memory is seen from here.
#pragma once

#include <array>
#include <cstdint>

#include "copy.hpp"
#include "objects.hpp"

namespace chorale::soft {

/// A region of some process, as looked up once. Good while its record still has this generation.
struct region_view {
  const peer* owner = nullptr;
  std::uint32_t key = 0;
  std::uint32_t generation = 0;
  std::uint32_t access = 0;
  std::uint32_t pd = 0;
  std::uint64_t begin = 0;
  std::uint64_t length = 0;
  unsigned char* mapped = nullptr;  ///< where `begin` is seen from here
  /// The same for atomic operations, which go through the mapping whatever CHORALE_SOFT_COPY says: the
  /// others' do.
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

/// The regions a QP used last. Not thread-safe: it belongs to whoever holds the QP's send lock.
class region_cache {
 public:
  /// The region of `target` that this key names, nullptr if there is none.
  const region_view* find(process& self, peer& target, std::uint32_t key) noexcept {
    const region_view& seen = views_[key >> 16 & 7U];
    if (seen.key == key && seen.owner == &target &&
        target.base->mrs[key >> 16].generation.load(std::memory_order_acquire) == seen.generation)
      return &seen;
    return look_up(self, target, key, views_[key >> 16 & 7U]) ? &views_[key >> 16 & 7U] : nullptr;
  }

 private:
  static bool look_up(process& self, peer& target, std::uint32_t key, region_view& view) noexcept;
  std::array<region_view, 8> views_{};
};

/// True if a local key of this process opens the range for these rights (IBV_ACCESS_*).
bool local_range(segment& own, const ibv_sge& range, std::uint32_t pd, std::uint32_t access) noexcept;

ibv_pd* alloc_pd(ibv_context* c) noexcept;
int dealloc_pd(ibv_pd* pd) noexcept;
ibv_mr* reg_mr(ibv_pd* pd, void* address, std::size_t bytes, int access) noexcept;
int dereg_mr(ibv_mr* mr) noexcept;
/// For the fork handlers: the table of allocations is locked over the fork.
std::mutex& allocations_lock() noexcept;

/// Says that memory of this process can be mapped by others: `fd`, of `create_memory`, is mapped whole at
/// `address`. False if there is no memory for the note.
bool adopt_memory(void* address, std::size_t bytes, int fd, std::uint64_t inode) noexcept;
/// In a forked child, whose only thread calls it: other memory is mapped there now; fd -1: none that others
/// can map.
void readopt_memory(void* address, int fd, std::uint64_t inode) noexcept;

void* allocate(ibv_context* c, std::size_t bytes) noexcept;
int release(ibv_context* c, void* address, std::size_t bytes) noexcept;

}  // namespace chorale::soft
