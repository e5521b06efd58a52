// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <new>
#include <sys/mman.h>

#include <chorale/core/zeroed_array.hpp>

namespace chorale::detail {
namespace {

/// Smaller pieces come from the heap, which cannot tell which of its pages are zero.
constexpr std::size_t fewest_mapped = std::size_t{64} << 10;

}  // namespace

void* take_zeroed(std::size_t bytes) {
  void* memory = nullptr;
  if (bytes < fewest_mapped) {
    memory = std::calloc(bytes == 0 ? 1 : bytes, 1);
  } else {
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) memory = nullptr;
  }
  if (memory == nullptr) throw std::bad_alloc{};
  return memory;
}

void give_back_zeroed(void* memory, std::size_t bytes) noexcept {
  if (bytes < fewest_mapped)
    std::free(memory);
  else
    munmap(memory, bytes);
}

}  // namespace chorale::detail
