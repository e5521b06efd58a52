#include "mapped_memory.hpp"

#include <cerrno>
#include <sys/mman.h>

#include <infiniband/verbs.h>

namespace chorale::verbs {
namespace {

constexpr std::uint64_t page_bytes = 4096;
constexpr int known_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                             IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_HUGETLB | IBV_ACCESS_ON_DEMAND |
                             IBV_ACCESS_OPTIONAL_RANGE;
// What verbs has and these providers have not. Programs do without such rights, and give up on wrong ones.
constexpr int foreign_access = IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED;

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

// The kernel looks at its areas alone, not at each page: that this memory is written back to a file, if it
// belongs to one, is asked for and not awaited.
bool is_mapped(std::uint64_t address, std::uint64_t bytes) noexcept {
  const std::uint64_t first = address & ~(page_bytes - 1);
  const std::uint64_t last = (address + bytes + page_bytes - 1) & ~(page_bytes - 1);
  return msync(reinterpret_cast<void*>(first), last - first, MS_ASYNC) == 0;
}

// Of the first and of the last byte.
bool are_writable(std::uint64_t first, std::uint64_t last) noexcept {
  return is_writable(first) && (first / page_bytes == last / page_bytes || is_writable(last));
}

}  // namespace

int registration_failure(std::uint64_t address, std::uint64_t bytes, int access) noexcept {
  constexpr int needs_local = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
  if ((access & ~known_access & ~foreign_access) != 0 || address + bytes < address ||
      ((access & needs_local) != 0 && (access & IBV_ACCESS_LOCAL_WRITE) == 0))
    return EINVAL;
  if ((access & foreign_access) != 0) return EOPNOTSUPP;
  if (bytes == 0 || (access & IBV_ACCESS_ON_DEMAND) != 0) return 0;
  if (!is_mapped(address, bytes) ||
      ((access & IBV_ACCESS_LOCAL_WRITE) != 0 && !are_writable(address, address + bytes - 1)))
    return EFAULT;
  return 0;
}

}  // namespace chorale::verbs
