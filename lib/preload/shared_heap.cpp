// SPDX-License-Identifier: Apache-2.0
#include "shared_heap.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

#include "core/pages.hpp"
#include "core/streams_reserved.hpp"
#include "soft/fabric.hpp"
#include "soft/memory.hpp"

namespace chorale::preload {
namespace {

/// Address space, not memory: pages are allocated when they are touched.
constexpr std::uint64_t largest_heap = std::uint64_t{1} << 36;
constexpr std::uint64_t smallest_heap = std::uint64_t{1} << 30;
/// The pages of blocks of at least this size return to the system when the block is freed.
constexpr std::uint64_t give_back_bytes = std::uint64_t{1} << 20;

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t step) noexcept {
  return (value + step - 1) & ~(step - 1);
}

bool wanted() noexcept {
  const char* share = std::getenv("CHORALE_SOFT_SHARE");
  return share == nullptr || std::strcmp(share, "0") != 0;
}

class kept_errno {
 public:
  ~kept_errno() { errno = value_; }

 private:
  int value_ = errno;
};

}  // namespace

shared_heap& shared_heap::instance() noexcept {
  alignas(shared_heap) static unsigned char storage[sizeof(shared_heap)];
  static shared_heap* const heap = new (storage) shared_heap;
  return *heap;
}

shared_heap::shared_heap() noexcept {
  if (!wanted()) return;
  detail::streams_reserved::handle_forks();
  rlimit limit{};
  // A file beyond the limit would raise SIGXFSZ.
  std::uint64_t bytes = largest_heap;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    while (bytes > limit.rlim_cur) bytes /= 2;
  for (; bytes >= smallest_heap; bytes /= 4) {
    std::uint64_t inode = 0;
    soft::unique_fd fd{soft::create_memory("chorale-soft-heap", bytes, inode)};
    if (fd.get() < 0) return;
    void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd.get(), 0);
    if (mapped == MAP_FAILED) continue;
    try {
      free_[0] = bytes;
    } catch (...) {
    }
    if (free_.empty() || !soft::adopt_memory(mapped, bytes, fd.get(), inode) ||
        pthread_atfork(before_fork, after_fork_parent, after_fork_child) != 0) {
      munmap(mapped, bytes);
      return;
    }
    fd_ = fd.release();
    begin_.store(reinterpret_cast<std::uintptr_t>(mapped));
    bytes_.store(bytes);
    return;
  }
}

void* shared_heap::allocate(std::size_t bytes, std::size_t alignment) noexcept {
  const kept_errno keep;
  if (fd_ < 0 || bytes > bytes_.load() || alignment > bytes_.load()) return nullptr;
  const std::uint64_t size = round_up(std::max<std::size_t>(bytes, 1), detail::page_bytes());
  const std::uint64_t step = std::max<std::uint64_t>(alignment, detail::page_bytes());
  const std::uintptr_t begin = begin_.load();
  try {
    const std::lock_guard lock(mutex_);
    for (auto it = free_.begin(); it != free_.end(); ++it) {
      const auto [offset, room] = *it;
      const std::uint64_t at = round_up(begin + offset, step) - begin;
      if (at - offset > room || size > room - (at - offset)) continue;
      // The new entries are made before the old one is erased, so that a failure in between loses nothing.
      const std::uint64_t after = at + size;
      used_[at] = size;
      if (after != offset + room) {
        try {
          free_[after] = offset + room - after;
        } catch (...) {
          used_.erase(at);
          throw;
        }
      }
      if (at != offset)
        it->second = at - offset;
      else
        free_.erase(it);
      return reinterpret_cast<void*>(begin + at);
    }
  } catch (...) {
  }
  return nullptr;
}

void shared_heap::release(void* block) noexcept {
  const kept_errno keep;
  const std::uint64_t offset = reinterpret_cast<std::uintptr_t>(block) - begin_.load();
  const std::lock_guard lock(mutex_);
  const auto found = used_.find(offset);
  if (found == used_.end()) std::abort();  // as the C library does for an address that is not a block
  const std::uint64_t bytes = found->second;
  if (bytes >= give_back_bytes) madvise(block, bytes, MADV_REMOVE);
  // The node moves from map to map: freeing must not need memory.
  auto node = used_.extract(found);
  auto next = free_.lower_bound(offset);
  if (next != free_.end() && next->first == offset + bytes) {
    node.mapped() += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == offset) {
      before->second += node.mapped();
      return;
    }
  }
  free_.insert(std::move(node));
}

std::size_t shared_heap::size_of(const void* block) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = used_.find(reinterpret_cast<std::uintptr_t>(block) - begin_.load());
  return found == used_.end() ? 0 : found->second;
}

bool shared_heap::copy_into(int fd, std::uint64_t offset, std::uint64_t bytes) const noexcept {
  const auto* base = reinterpret_cast<const unsigned char*>(begin_.load());
  const auto end = static_cast<off_t>(offset + bytes);
  for (auto at = static_cast<off_t>(offset); at < end;) {
    const off_t data = lseek(fd_, at, SEEK_DATA);
    if (data < 0) return errno == ENXIO;  // nothing but holes from here on
    if (data >= end) return true;
    const off_t hole = std::min(lseek(fd_, data, SEEK_HOLE), end);
    if (hole <= data) return false;
    for (at = data; at < hole;) {
      const ssize_t moved = pwrite(fd, base + at, static_cast<std::size_t>(hole - at), at);
      if (moved <= 0) return false;
      at += moved;
    }
  }
  return true;
}

bool shared_heap::move_to_own_memory() noexcept {
  const std::size_t bytes = bytes_.load();
  void* const begin = reinterpret_cast<void*>(begin_.load());
  std::uint64_t inode = 0;
  soft::unique_fd fresh{soft::create_memory("chorale-soft-heap", bytes, inode)};
  if (fresh.get() < 0) return false;
  for (const auto& [offset, size] : used_)
    if (!copy_into(fresh.get(), offset, size)) return false;
  if (mmap(begin, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, fresh.get(), 0) ==
      MAP_FAILED)
    return false;
  close(fd_);
  fd_ = fresh.release();
  soft::readopt_memory(begin, fd_, inode);
  return true;
}

void shared_heap::before_fork() noexcept {
  shared_heap& heap = instance();
  heap.mutex_.lock();
  if (detail::above_streams([&] { return pipe2(heap.fork_pipe_, O_CLOEXEC); }) != 0)
    heap.fork_pipe_[0] = heap.fork_pipe_[1] = -1;
}

void shared_heap::after_fork_parent() noexcept {
  const kept_errno keep;
  shared_heap& heap = instance();
  if (heap.fork_pipe_[1] >= 0) close(heap.fork_pipe_[1]);
  if (heap.fork_pipe_[0] >= 0) {
    // Copying gigabytes takes seconds, but a child that is stopped meanwhile must not block its parent
    // forever.
    pollfd wait{heap.fork_pipe_[0], POLLIN, 0};
    while (poll(&wait, 1, 30'000) < 0 && errno == EINTR) {
    }
    close(heap.fork_pipe_[0]);
  }
  heap.mutex_.unlock();
}

void shared_heap::after_fork_child() noexcept {
  const kept_errno keep;
  shared_heap& heap = instance();
  // Without a descriptor the memory is private already, and fork() has copied it.
  if (heap.fd_ >= 0 && !heap.move_to_own_memory()) {
    // Private pages of the old memory: this child may see later writes of its parent, but not vice versa.
    mmap(reinterpret_cast<void*>(begin_.load()), bytes_.load(), PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED, heap.fd_, 0);
    soft::readopt_memory(reinterpret_cast<void*>(begin_.load()), -1, 0);
    close(std::exchange(heap.fd_, -1));
  }
  for (const int fd : heap.fork_pipe_)
    if (fd >= 0) close(fd);
  heap.mutex_.unlock();
}

}  // namespace chorale::preload
