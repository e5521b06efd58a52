#include "mapped_memory.hpp"

#include <sys/mman.h>

namespace chorale::verbs {
namespace {

constexpr std::uint64_t page_bytes = 4096;

bool populate(std::uint64_t address) noexcept {
#ifdef MADV_POPULATE_WRITE
  void* page = reinterpret_cast<void*>(address & ~(page_bytes - 1));
  return madvise(page, page_bytes, MADV_POPULATE_WRITE) == 0;
#else
  (void)address;
  return false;
#endif
}

/// False if the page that holds this byte cannot be written. (Older kernels cannot say: true.)
bool is_writable(std::uint64_t address) noexcept {
  static const bool kernel_knows = [] {
    unsigned char on_stack = 0;
    return populate(reinterpret_cast<std::uint64_t>(&on_stack));
  }();
  return !kernel_knows || populate(address);
}

}  // namespace

// The kernel looks at its areas alone, not at each page: that this memory is written back to a file, if it
// belongs to one, is asked for and not awaited.
bool is_mapped(std::uint64_t address, std::uint64_t bytes) noexcept {
  const std::uint64_t first = address & ~(page_bytes - 1);
  const std::uint64_t last = (address + bytes + page_bytes - 1) & ~(page_bytes - 1);
  return msync(reinterpret_cast<void*>(first), last - first, MS_ASYNC) == 0;
}

bool are_writable(std::uint64_t first, std::uint64_t last) noexcept {
  return is_writable(first) && (first / page_bytes == last / page_bytes || is_writable(last));
}

}  // namespace chorale::verbs
