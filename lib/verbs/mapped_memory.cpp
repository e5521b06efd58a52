// SPDX-License-Identifier: Apache-2.0
#include "mapped_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <string>
#include <string_view>
#include <sys/mman.h>

#include <infiniband/verbs.h>

#include "../core/pages.hpp"
#include "../core/system_files.hpp"

namespace chorale::verbs {
namespace {

constexpr int known_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                             IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_HUGETLB | IBV_ACCESS_ON_DEMAND |
                             IBV_ACCESS_OPTIONAL_RANGE;
// Valid rights that these providers do not support: EOPNOTSUPP instead of EINVAL, so that programs can retry
// without them.
constexpr int foreign_access = IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED;

bool populate(std::uint64_t address) noexcept {
#ifdef MADV_POPULATE_WRITE
  const detail::page_range page = detail::pages_around(address, 1);
  return madvise(page.data(), page.bytes, MADV_POPULATE_WRITE) == 0;
#else
  (void)address;
  return false;
#endif
}

/// False if the page that holds this byte cannot be written; true if the kernel is too old to report that.
bool is_writable(std::uint64_t address) noexcept {
  static const bool kernel_knows = [] {
    unsigned char on_stack = 0;
    return populate(reinterpret_cast<std::uint64_t>(&on_stack));
  }();
  return !kernel_knows || populate(address);
}

// msync with MS_ASYNC only checks that the areas are mapped, without visiting pages or waiting for
// write-back.
bool is_mapped(std::uint64_t address, std::uint64_t bytes) noexcept {
  const detail::page_range pages = detail::pages_around(address, bytes);
  return msync(pages.data(), pages.bytes, MS_ASYNC) == 0;
}

// Checks only the pages of the first and the last byte.
bool are_writable(std::uint64_t first, std::uint64_t last) noexcept {
  return is_writable(first) && (detail::page_of(first) == detail::page_of(last) || is_writable(last));
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

bool is_mapped_file(std::uint64_t address, std::uint64_t bytes) noexcept {
  try {
    const std::string all = detail::text_of_system("/proc/self/maps");
    for (std::string_view left = all; !left.empty();
         left.remove_prefix(std::min(left.size(), left.find('\n') + 1))) {
      const std::string line{left.substr(0, left.find('\n'))};
      std::uint64_t begin = 0;
      std::uint64_t end = 0;
      char rights[5] = "";
      int path = 0;
      if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s %*s %*s %*s %n", &begin, &end, rights,
                      &path) < 3)
        continue;
      const auto name = std::string_view{line}.substr(static_cast<std::size_t>(path));
      if (address < end && address + bytes > begin && rights[3] == 's' && name.starts_with('/') &&
          !name.starts_with("/memfd:") && !name.starts_with("/dev/"))
        return true;
    }
  } catch (...) {  // no memory for the list: assume that it is not mapped from a file
  }
  return false;
}

}  // namespace chorale::verbs
