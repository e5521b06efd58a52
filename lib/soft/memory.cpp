// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include <cerrno>
#include <iterator>
#include <map>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

#include "../core/immortal.hpp"
#include "../core/pages.hpp"
#include "../verbs/profile_rules.hpp"

namespace chorale::soft {
namespace {

/// Memory of this process that other processes can map: one memfd per allocation.
struct allocation {
  std::uint64_t bytes;
  int fd;  // -1: memory inherited from the parent, which only this process can reach
  std::uint64_t inode;
  bool is_mapped_by_peer;
  bool is_adopted;
  bool is_prefaulted;
};
/// Of this process.
constinit prefaulted_memory prefaulted_here;
std::mutex allocations_mutex;
/// Keyed by address.
std::map<std::uint64_t, allocation>& allocations() noexcept {
  static detail::immortal<std::map<std::uint64_t, allocation>> table;
  return *table;
}

bool find_allocation(std::uint64_t address, std::uint64_t bytes, std::uint64_t& begin, allocation& found) {
  const std::lock_guard lock(allocations_mutex);
  auto it = allocations().upper_bound(address);
  if (it == allocations().begin()) return false;
  --it;
  if (address - it->first > it->second.bytes || bytes > it->second.bytes - (address - it->first))
    return false;
  begin = it->first;
  found = it->second;
  return found.fd >= 0;
}

/// A peer has mapped memory that begins in the allocation at `address`.
void note_mapped(std::uint64_t address) noexcept {
  const std::lock_guard lock(allocations_mutex);
  auto it = allocations().upper_bound(address);
  if (it != allocations().begin()) std::prev(it)->second.is_mapped_by_peer = true;
}

/// 32 random bits, against accidental matches of stray keys; takes a system call at the first use only.
std::uint32_t chance_of_key() noexcept {
  static std::atomic<std::uint64_t> state{random_word()};
  std::uint64_t z = state.fetch_add(0x9e3779b97f4a7c15, std::memory_order_relaxed);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return static_cast<std::uint32_t>(z >> 32);
}

}  // namespace

std::mutex& allocations_lock() noexcept {
  return allocations_mutex;
}

bool region_cache::look_up(process& self, peer& target, std::uint32_t key, region_view& view) noexcept {
  const mr_record& r = target.regions[key >> 16];
  view.key = 0;
  view.owner = nullptr;
  const std::uint32_t generation = r.generation.load(orders::behind_lock);
  if ((generation & 1U) == 0 || key == 0) return false;
  const std::uint32_t rkey = r.rkey.load(std::memory_order_relaxed);
  const std::uint32_t lkey = r.lkey.load(std::memory_order_relaxed);
  if (key != rkey && key != lkey) return false;
  region_view fresh;
  fresh.owner = &target;
  fresh.key = key;
  fresh.generation = generation;
  fresh.remote_key = key == rkey;
  fresh.access = r.access.load(std::memory_order_relaxed);
  fresh.pd = r.pd.load(std::memory_order_relaxed);
  fresh.begin = r.address.load(std::memory_order_relaxed);
  fresh.length = r.length.load(std::memory_order_relaxed);
  const int fd = r.memory_fd.load(std::memory_order_relaxed);
  const std::uint64_t inode = r.memory_inode.load(std::memory_order_relaxed);
  const std::uint64_t bytes = r.memory_bytes.load(std::memory_order_relaxed);
  const std::uint64_t offset = r.memory_offset.load(std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_acquire);
  if (r.generation.load(std::memory_order_relaxed) != generation) return false;
  if (fresh.begin + fresh.length < fresh.begin) return false;
  // Allocations are page-aligned; a record that violates this would misalign words here.
  if (fd >= 0 && (fresh.begin - offset) % detail::page_bytes() != 0) return false;
  fresh.shared_memory = fd >= 0;
  if (target.self) {
    fresh.mapped = reinterpret_cast<unsigned char*>(fresh.begin);
    fresh.word_access = fresh.mapped;
  } else if (fd >= 0 && offset <= bytes && fresh.length <= bytes - offset &&
             (self.copying() == copy_mode::automatic || (fresh.access & IBV_ACCESS_REMOTE_ATOMIC) != 0)) {
    unsigned char* base = target.map_memory(fd, inode, bytes);
    if (base != nullptr) fresh.word_access = base + offset;
    if (self.copying() == copy_mode::automatic) fresh.mapped = fresh.word_access;
  }
  view = fresh;
  return true;
}

bool local_range(const mr_record* own, const ibv_sge& range, std::uint32_t pd,
                 std::uint32_t access) noexcept {
  if (range.length == 0) return true;
  const mr_record& r = own[range.lkey >> 16];
  if ((r.generation.load(std::memory_order_acquire) & 1U) == 0) return false;
  const std::uint64_t begin = r.address.load(std::memory_order_relaxed);
  const std::uint64_t length = r.length.load(std::memory_order_relaxed);
  return r.lkey.load(std::memory_order_relaxed) == range.lkey && r.pd.load(std::memory_order_relaxed) == pd &&
         (r.access.load(std::memory_order_relaxed) & access) == access && range.addr >= begin &&
         range.length <= length && range.addr - begin <= length - range.length;
}

ibv_pd* alloc_pd(ibv_context* c) noexcept {
  auto* pd = make_object<protection_domain>(c);
  if (pd != nullptr) pd->id = pd->handle = static_cast<std::uint32_t>(process_of(c).next_name());
  return pd;
}

int dealloc_pd(ibv_pd* base) noexcept {
  auto* pd = static_cast<protection_domain*>(base);
  if (pd->users.load() != 0) return EBUSY;
  destroy_object(pd);
  return 0;
}

ibv_mr* reg_mr(ibv_pd* pd, void* address, std::size_t bytes, int access) noexcept {
  const auto begin = reinterpret_cast<std::uint64_t>(address);
  process& self = process_of(pd->context);
  auto& locked = self.in_use().registered_bytes;
  errno = verbs::check_registration(self.profile(), begin, bytes, access, locked.fetch_add(bytes));
  auto* mr = errno == 0 ? make_object<memory_region>(pd->context) : nullptr;
  if (mr == nullptr) {
    locked.fetch_sub(bytes);
    return nullptr;
  }
  std::uint32_t index = 0;
  if (!self.abandoned()) {
    const std::lock_guard lock(self.objects_mutex());
    index = self.next_mr_index();
  }
  if (index == 0) {
    locked.fetch_sub(bytes);
    destroy_object(mr);
    errno = self.abandoned() ? EINVAL : ENOMEM;
    return nullptr;
  }
  // The low bits are random, to detect stale and wrong keys; the two keys differ.
  const std::uint32_t chance = chance_of_key();
  mr->index = index;
  mr->lkey = index << 16 | (chance & 0xffffU);
  mr->rkey = index << 16 | (chance >> 16);
  if (mr->rkey == mr->lkey) mr->rkey ^= 0x5500U;
  mr->pd = pd;
  mr->addr = address;
  mr->length = bytes;
  mr->handle = index;
  std::uint64_t memory_begin = 0;
  allocation memory{};
  const bool shareable = find_allocation(begin, bytes, memory_begin, memory);
  const std::uint32_t generation = self.regions()[index].generation.load(std::memory_order_relaxed) + 1;
  for (mr_record* r : {&self.regions()[index], &self.own().mrs[index]}) {
    r->lkey.store(mr->lkey, std::memory_order_relaxed);
    r->rkey.store(mr->rkey, std::memory_order_relaxed);
    r->access.store(static_cast<std::uint32_t>(access), std::memory_order_relaxed);
    r->pd.store(static_cast<protection_domain*>(pd)->id, std::memory_order_relaxed);
    r->address.store(begin, std::memory_order_relaxed);
    r->length.store(bytes, std::memory_order_relaxed);
    r->memory_fd.store(shareable ? memory.fd : -1, std::memory_order_relaxed);
    r->memory_inode.store(memory.inode, std::memory_order_relaxed);
    r->memory_bytes.store(memory.bytes, std::memory_order_relaxed);
    r->memory_offset.store(begin - memory_begin, std::memory_order_relaxed);
    r->generation.store(generation, std::memory_order_release);
  }
  static_cast<protection_domain*>(pd)->users.fetch_add(1);
  return mr;
}

int dereg_mr(ibv_mr* base) noexcept {
  auto* mr = static_cast<memory_region*>(base);
  process& self = process_of(mr->context);
  if (!self.abandoned()) {
    mr_record& r = self.regions()[mr->index];
    mr_record& shown = self.own().mrs[mr->index];
    if ((r.generation.load() & 1U) != 0) shown.generation.store(r.generation.fetch_add(1) + 1);
    // A peer that looked it up earlier may still be copying.
    if (!self.quiesce()) return EBUSY;
    if ((shown.access.load(std::memory_order_relaxed) & mapped_by_peer) != 0)
      note_mapped(reinterpret_cast<std::uint64_t>(mr->addr));
    const std::lock_guard lock(self.objects_mutex());
    self.mr_used()[mr->index] = false;
    self.in_use().registered_bytes.fetch_sub(mr->length);
  }
  static_cast<protection_domain*>(mr->pd)->users.fetch_sub(1);
  destroy_object(mr);
  return 0;
}

bool adopt_memory(void* address, std::size_t bytes, int fd, std::uint64_t inode) noexcept {
  try {
    const std::lock_guard lock(allocations_mutex);
    allocations()[reinterpret_cast<std::uint64_t>(address)] = {bytes, fd, inode, false, true, false};
    return true;
  } catch (...) {
    return false;
  }
}

void readopt_memory(void* address, int fd, std::uint64_t inode) noexcept {
  // Without locking: the fork handlers still hold the lock, and there is no other thread.
  const auto it = allocations().find(reinterpret_cast<std::uint64_t>(address));
  if (it == allocations().end()) return;
  if (fd < 0) {
    allocations().erase(it);
    return;
  }
  it->second.fd = fd;
  it->second.inode = inode;
}

void part_from_parents_memory() noexcept {
  for (auto& [address, memory] : allocations()) {
    // What the parent had inherited itself is already private.
    if (memory.is_adopted || memory.fd < 0) continue;
    if (std::exchange(memory.is_prefaulted, false)) prefaulted_here.remove(memory.bytes);
    mmap(reinterpret_cast<void*>(address), memory.bytes, PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, memory.fd, 0);
    close(std::exchange(memory.fd, -1));
  }
}

bool prefaulted_memory::add(void* address, std::uint64_t bytes) noexcept {
#ifdef MADV_POPULATE_WRITE
  constexpr std::uint64_t most = 8U << 20;
  constexpr std::uint64_t most_at_a_time = 32U << 20;
  if (bytes > most) return false;
  if (bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= most_at_a_time) {
    madvise(address, bytes, MADV_POPULATE_WRITE);
    return true;
  }
  remove(bytes);
#else
  (void)address, (void)bytes;
#endif
  return false;
}

void* allocate(ibv_context*, std::size_t bytes) noexcept {
  const std::uint64_t rounded = detail::in_pages(bytes);
  if (bytes == 0 || rounded < bytes) {
    errno = EINVAL;
    return nullptr;
  }
  std::uint64_t inode = 0;
  unique_fd fd{create_memory("chorale-soft-memory", rounded, inode)};
  if (fd.get() < 0) return nullptr;
  void* mapped = mmap(nullptr, rounded, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (mapped == MAP_FAILED) return nullptr;
  if (rounded >= 2U << 20) madvise(mapped, rounded, MADV_HUGEPAGE);
  const bool is_prefaulted = prefaulted_here.add(mapped, rounded);
  try {
    const std::lock_guard lock(allocations_mutex);
    allocations()[reinterpret_cast<std::uint64_t>(mapped)] = {rounded, fd.get(), inode,
                                                              false,   false,    is_prefaulted};
  } catch (...) {
    if (is_prefaulted) prefaulted_here.remove(rounded);
    munmap(mapped, rounded);
    errno = ENOMEM;
    return nullptr;
  }
  fd.release();
  return mapped;
}

int release(ibv_context* c, void* address, std::size_t) noexcept {
  allocation memory{};
  {
    const std::lock_guard lock(allocations_mutex);
    const auto it = allocations().find(reinterpret_cast<std::uint64_t>(address));
    if (it == allocations().end()) return EINVAL;
    memory = it->second;
    allocations().erase(it);
  }
  if (memory.is_prefaulted) prefaulted_here.remove(memory.bytes);
  // Peers may keep an unused mapping for a long time: free the pages now, unless a peer has mapped them for
  // its own use. In a forked child they belong to the parent.
  if (!process_of(c).abandoned() && !memory.is_mapped_by_peer) madvise(address, memory.bytes, MADV_REMOVE);
  munmap(address, memory.bytes);
  if (memory.fd >= 0) close(memory.fd);
  return 0;
}

}  // namespace chorale::soft
