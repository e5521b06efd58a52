// SPDX-License-Identifier: Apache-2.0
#include "arena.hpp"

#include <cstring>
#include <sys/mman.h>

#include "../core/pages.hpp"

namespace chorale::soft {
namespace {

/// Zeroes memory; returns whole pages to the system.
void wipe(unsigned char* begin, std::uint64_t bytes) noexcept {
  // Below this a system call costs more than the memory is worth.
  constexpr std::uintptr_t least_given_back = std::uintptr_t{64} << 10;
  const auto place = reinterpret_cast<std::uintptr_t>(begin);
  const detail::page_range pages = detail::pages_within(place, bytes);
  const auto give_back = [&] {
    // QEMU in user mode reports success for this advice, and ignores it.
    volatile unsigned char& first = *reinterpret_cast<unsigned char*>(pages.begin);
    first = 1;
    return madvise(pages.data(), pages.bytes, MADV_REMOVE) == 0 && first == 0;
  };
  if (pages.bytes < least_given_back || !give_back()) {
    std::memset(begin, 0, bytes);
    return;
  }
  const std::uintptr_t head = pages.begin - place;
  std::memset(begin, 0, head);
  std::memset(begin + head + pages.bytes, 0, bytes - head - pages.bytes);
}

}  // namespace

std::uint64_t arena::allocate(std::uint64_t bytes) {
  bytes = rounded(bytes == 0 ? 1 : bytes);
  const std::lock_guard lock(mutex_);
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    if (it->second < bytes) continue;
    const auto [offset, room] = *it;
    if (room > bytes) free_.emplace(offset + bytes, room - bytes);  // before erase, since it may throw
    free_.erase(it);
    return offset;
  }
  return 0;
}

void arena::release(std::uint64_t offset, std::uint64_t bytes) noexcept {
  bytes = rounded(bytes == 0 ? 1 : bytes);
  wipe(reinterpret_cast<unsigned char*>(&base_) + offset, bytes);
  const std::lock_guard lock(mutex_);
  const auto next = free_.lower_bound(offset);
  const auto before = next == free_.begin() ? free_.end() : std::prev(next);
  const bool joins_next = next != free_.end() && offset + bytes == next->first;
  if (before != free_.end() && before->first + before->second == offset) {
    before->second += bytes;
    if (joins_next) {
      before->second += next->second;
      free_.erase(next);
    }
    return;
  }
  if (joins_next) {
    // Reuse the node: if allocating a new one failed, all the memory that follows would be lost.
    auto entry = free_.extract(next);
    entry.key() = offset;
    entry.mapped() += bytes;
    free_.insert(std::move(entry));
    return;
  }
  try {
    free_.emplace(offset, bytes);
  } catch (...) {  // out of memory: this piece of the segment is not used again
  }
}

}  // namespace chorale::soft
