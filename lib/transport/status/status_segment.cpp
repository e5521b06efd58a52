// SPDX-License-Identifier: Apache-2.0
#include "status_segment.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../core/peer_descriptors.hpp"

namespace chorale::transport {

struct status_segment::of_all {
  std::mutex lock;
  std::weak_ptr<status_segment> current;
  std::shared_ptr<status_segment> forked;  ///< holds the segment during a fork()

  void before_fork() noexcept {
    lock.lock();
    forked = current.lock();
    if (forked) forked->lock_.lock();
  }
  void after_fork(bool in_child) noexcept {
    if (forked) {
      if (in_child) {
        forked->detach_from_parent();
        current.reset();
      }
      forked->lock_.unlock();
    }
    const auto last = std::move(forked);
    lock.unlock();
  }
};

status_segment::of_all& status_segment::everywhere() {
  static of_all& one = [&]() -> of_all& {
    auto fresh = std::make_unique<of_all>();
    if (pthread_atfork([] { everywhere().before_fork(); }, [] { everywhere().after_fork(false); },
                       [] { everywhere().after_fork(true); }) != 0)
      throw std::bad_alloc();
    return *fresh.release();
  }();
  return one;
}

std::shared_ptr<status_segment> status_segment::of_process() noexcept {
  try {
    of_all& all = everywhere();
    const std::lock_guard hold{all.lock};
    if (auto there = all.current.lock()) return there;
    std::uint64_t inode = 0;
    detail::unique_fd file{detail::create_memory(status_memory_name, status_memory_bytes, inode)};
    if (file.get() < 0) return nullptr;
    void* const memory =
        mmap(nullptr, status_memory_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (memory == MAP_FAILED) return nullptr;
    std::unique_ptr<status_segment> fresh{new (std::nothrow)
                                              status_segment{file.get(), static_cast<std::byte*>(memory)}};
    if (!fresh) {
      munmap(memory, status_memory_bytes);
      return nullptr;
    }
    file.release();
    std::shared_ptr<status_segment> made{std::move(fresh)};
    all.current = made;
    return made;
  } catch (...) {
    return nullptr;
  }
}

status_segment::status_segment(int file, std::byte* memory) noexcept : file_(file), memory_(memory) {
  auto* const header = new (memory_) status_header;
  header->slot_bytes = status_slot_bytes;
  header->slots = status_slots;
  header->pid = getpid();
}

status_segment::~status_segment() {
  munmap(memory_, status_memory_bytes);
  if (file_ >= 0) close(file_);
}

status_slot* status_segment::take() noexcept {
  const std::lock_guard hold{lock_};
  const auto free = std::find(taken_.begin(), taken_.end(), false);
  if (free == taken_.end()) {
    std::launder(reinterpret_cast<status_header*>(memory_))->unpublished.fetch_add(1);
    return nullptr;
  }
  *free = true;
  const auto i = static_cast<std::size_t>(free - taken_.begin());
  end_ = std::max(end_, i + 1);
  return new (place(i)) status_slot;
}

void status_segment::give_back(status_slot* slot) noexcept {
  const std::lock_guard hold{lock_};
  slot->version.store(0, std::memory_order_release);
  for (std::size_t i = 0; i < end_; ++i)
    if (place(i) == reinterpret_cast<std::byte*>(slot)) taken_[i] = false;
}

void status_segment::detach_from_parent() noexcept {
  void* const copy =
      mmap(nullptr, status_memory_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy != MAP_FAILED) {
    std::memcpy(copy, memory_, (end_ + 1) * status_slot_bytes);
    (void)mremap(copy, status_memory_bytes, status_memory_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, memory_);
  }
  close(file_);
  file_ = -1;
}

}  // namespace chorale::transport
