// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <memory>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include <utility>

#include <chorale/core/uncancellable.hpp>

#include "../core/pages.hpp"
#include "../core/streams_reserved.hpp"
#include "memory.hpp"
#include "process.hpp"
#include "queue_pair.hpp"

namespace chorale::soft {
namespace {

void* map_shared(int fd, std::uint64_t bytes, void* where) noexcept {
  void* mapped = mmap(where, bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_NORESERVE | (where == nullptr ? 0 : MAP_FIXED), fd, 0);
  if (mapped == MAP_FAILED) return nullptr;
  madvise(mapped, bytes, MADV_DONTDUMP);
  return mapped;
}

/// `errnum` if it means that this process lacks resources or rights, not that the peer has ended; otherwise
/// 0.
int obstacle(int errnum) noexcept {
  return is_shortage(errnum) || errnum == EACCES || errnum == EPERM ? errnum : 0;
}

/// Memory of peers. Most of the memory of hundreds of peers is never accessed from here.
constinit prefaulted_memory prefaulted_of_peers;

}  // namespace

peer* connect_peer(const member& entry, std::uint32_t slot, int& why) noexcept {
  why = 0;
  const detail::uncancellable ends_first;
  try {
    auto fresh = std::make_unique<peer>();
    fresh->slot = slot;
    fresh->pid = entry.pid.load(std::memory_order_acquire);
    fresh->generation = entry.generation.load();
    fresh->start_time = entry.start_time.load();
    if (fresh->pid == 0) return nullptr;
#ifdef SYS_pidfd_open
    fresh->pidfd.reset(
        static_cast<int>(detail::above_streams([&] { return syscall(SYS_pidfd_open, fresh->pid, 0U); })));
    if (fresh->pidfd.get() < 0 && errno == ESRCH) return nullptr;
#endif
    errno = 0;
    if (start_time_of(fresh->pid) != fresh->start_time) {
      why = errno == ENOENT ? ENOENT : obstacle(errno);
      return nullptr;
    }
    const unique_fd fd{
        open_memory(fresh->pid, entry.segment_fd.load(), entry.segment_inode.load(), segment_bytes)};
    if (fd.get() < 0) {
      why = obstacle(errno);
      return nullptr;
    }
    fresh->base = static_cast<segment*>(map_shared(fd.get(), segment_bytes, nullptr));
    if (fresh->base == nullptr) {
      why = errno;
      return nullptr;
    }
    fresh->regions = fresh->base->mrs;
    const segment& s = *fresh->base;
    if (s.magic != segment_magic || s.version != layout_version || s.slot != slot ||
        s.generation != fresh->generation)
      return nullptr;
    // Last, since until here the segment belonged to the peer. Without a spare descriptor its end is detected
    // by polling.
    fresh->life.reset(open_life_line(fresh->pid, s.life_fd, s.life_inode));
    if (fresh->life.get() < 0 && !is_shortage(errno)) return nullptr;
    return fresh.release();
  } catch (...) {
    return nullptr;
  }
}

peer::~peer() {
  if (self) return;
  if (base != nullptr) munmap(base, segment_bytes);
  for (const mapping& m : mappings_) {
    munmap(m.address, m.bytes);
    if (m.is_prefaulted) prefaulted_of_peers.remove(m.bytes);
  }
}

unsigned char* peer::map_memory(int fd, std::uint64_t inode, std::uint64_t bytes) noexcept {
  const detail::uncancellable ends_first;
  try {
    const std::lock_guard lock(mutex_);
    mapping* stale = nullptr;
    for (mapping& m : mappings_) {
      if (m.fd != fd) continue;
      if (m.inode == inode && m.bytes == bytes) return m.address;
      stale = &m;  // the descriptor number was reused for a newer allocation
    }
    if (dead.load()) return nullptr;
    const unique_fd opened{open_memory(pid, fd, inode, bytes)};
    if (opened.get() < 0) return nullptr;
    if (stale == nullptr) {
      mappings_.reserve(mappings_.size() + 1);
      auto* mapped = static_cast<unsigned char*>(map_shared(opened.get(), bytes, nullptr));
      if (mapped != nullptr)
        mappings_.push_back({fd, inode, bytes, mapped, prefaulted_of_peers.add(mapped, bytes)});
      return mapped;
    }
    // No region of the stale allocation is valid any more, so no copy of this process is using it.
    const bool fits = stale->bytes == bytes;
    auto* mapped =
        static_cast<unsigned char*>(map_shared(opened.get(), bytes, fits ? stale->address : nullptr));
    if (mapped == nullptr) return nullptr;
    if (!fits) munmap(stale->address, stale->bytes);
    if (stale->is_prefaulted) prefaulted_of_peers.remove(stale->bytes);
    *stale = {fd, inode, bytes, mapped, prefaulted_of_peers.add(mapped, bytes)};
    return mapped;
  } catch (...) {
    return nullptr;
  }
}

int peer::pipe_to(int fd, std::uint64_t inode) noexcept {
  try {
    for (pipe_end& p : pipes_) {
      if (p.fd != fd) continue;
      if (p.inode != inode || p.opened.get() < 0) {
        p.opened.reset(open_pipe(pid, fd, inode));
        p.inode = inode;
      }
      return p.opened.get();
    }
    // Pipe ends that the peer has closed are dropped once there are twice as many as remained at the last
    // check.
    if (pipes_.size() >= pipes_kept_) {
      std::erase_if(pipes_, [this](const pipe_end& p) { return !has_pipe(pid, p.fd, p.inode); });
      pipes_kept_ = std::max(fewest_pipes_kept, 2 * pipes_.size());
    }
    pipes_.reserve(pipes_.size() + 1);
    unique_fd opened{open_pipe(pid, fd, inode)};
    if (opened.get() < 0) return -1;
    pipes_.push_back({fd, inode, std::move(opened)});
    return pipes_.back().opened.get();
  } catch (...) {
    errno = ENOMEM;
    return -1;
  }
}

bool peer::post_event(int fd, std::uint64_t inode, std::uint64_t name) noexcept {
  const detail::uncancellable ends_first;
  const std::lock_guard lock(mutex_);
  const int to = pipe_to(fd, inode);
  return to >= 0 && write(to, &name, sizeof name) == ssize_t{sizeof name};
}

void peer::wake() noexcept {
  const detail::uncancellable ends_first;
  if (self) return wake_own_service();
  bool retry = false;
  {
    const std::lock_guard lock(mutex_);
    const int to = pipe_to(base->wake_fd, base->wake_inode);
    retry = to < 0 && is_shortage(errno) && !dead.load();
    const char byte = 0;
    // A full pipe is readable already: the reader will wake.
    if (to >= 0) (void)!write(to, &byte, 1);
  }
  if (owes_wake_.exchange(retry) != retry && retry) wake_own_service();
}

void peer::bury() noexcept {
  const std::lock_guard lock(mutex_);
  const auto blank = [](void* address, std::uint64_t bytes) {
    mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
         0);
  };
  if (base != nullptr) blank(base, segment_bytes);
  if (self && regions != nullptr) blank(regions, sizeof(mr_record) * mr_count);
  for (mapping& m : mappings_) {
    blank(m.address, m.bytes);
    if (std::exchange(m.is_prefaulted, false)) prefaulted_of_peers.remove(m.bytes);
  }
  pipes_.clear();
  pidfd.reset();
  life.reset();
}

bool peer::has_ended() noexcept {
#ifdef SYS_pidfd_send_signal
  const std::lock_guard lock(mutex_);
  if (dead.load()) return true;
  return pidfd.get() >= 0 && syscall(SYS_pidfd_send_signal, pidfd.get(), 0, nullptr, 0U) != 0 &&
         errno == ESRCH;
#else
  return dead.load();
#endif
}

bool peer::gone() noexcept {
  if (self) return false;
  const std::lock_guard lock(mutex_);
  char byte = 0;
  if (dead.load() || (life.get() >= 0 && read(life.get(), &byte, 1) == 0)) return true;
  // In exec() the memory is unmapped before the descriptors are closed.
  std::uint64_t magic = 0;
  const iovec here{&magic, sizeof magic};
  const iovec there{reinterpret_cast<void*>(base->address), sizeof magic};
  return process_vm_readv(pid, &here, 1, &there, 1, 0) != ssize_t{sizeof magic} || magic != segment_magic;
}

void peer::abandon() noexcept {
  dead.store(true);
  bury();
}

void* map_remote(ibv_qp* base, std::uint64_t address, std::uint32_t rkey, std::size_t bytes) noexcept {
  auto& qp = static_cast<queue_pair&>(*base);
  errno = EINVAL;
  if (bytes == 0 || (qp.qp_type != IBV_QPT_RC && qp.qp_type != IBV_QPT_UC)) return nullptr;
  const lock_guard lock(qp.record->send_lock, qp.owner->lock_name());
  errno = ENOTCONN;
  if (!lock || qp.state_now() != IBV_QPS_RTS) return nullptr;
  const region_view* region =
      open_region(qp, rkey, address, bytes, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE);
  if (region == nullptr) {
    if (qp.target != nullptr) errno = EINVAL;
    return nullptr;
  }
  errno = EOPNOTSUPP;
  if (!region->shared_memory || region->mapped == nullptr || qp.owner->copying() != copy_mode::automatic)
    return nullptr;
  // Set before the mapping exists: the owner checks it once no peer holds a send lock that it held before.
  qp.target->base->mrs[rkey >> 16].access.fetch_or(mapped_by_peer, std::memory_order_relaxed);
  // The device's own mapping ends with the peer, or is replaced when memory changes; this second mapping of
  // the same pages belongs to the caller.
  const auto place = reinterpret_cast<std::uintptr_t>(region->mapped + (address - region->begin));
  const detail::page_range pages = detail::pages_around(place, bytes);
  void* twin = mremap(pages.data(), 0, pages.bytes, MREMAP_MAYMOVE);
  if (twin == MAP_FAILED) return nullptr;
  return static_cast<unsigned char*>(twin) + (place - pages.begin);
}

int unmap_remote(void* address, std::size_t bytes) noexcept {
  const detail::page_range pages = detail::pages_around(reinterpret_cast<std::uintptr_t>(address), bytes);
  return munmap(pages.data(), pages.bytes) == 0 ? 0 : errno;
}

}  // namespace chorale::soft
