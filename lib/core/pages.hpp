// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unistd.h>

namespace chorale::detail {

/// Bytes of a page: 4 KiB on x86, up to 64 KiB on ARM and POWER, depending on the kernel.
inline std::uintptr_t page_bytes() noexcept {
  static const auto bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

/// The start of the page that contains `address`.
inline std::uintptr_t page_of(std::uintptr_t address) noexcept {
  return address & ~(page_bytes() - 1);
}
/// `bytes` rounded up to a multiple of the page size; 0 on overflow.
inline std::uintptr_t in_pages(std::uintptr_t bytes) noexcept {
  return page_of(bytes + page_bytes() - 1);
}

/// A range of whole pages.
struct page_range {
  std::uintptr_t begin = 0;
  std::uintptr_t bytes = 0;
  [[nodiscard]] void* data() const noexcept { return reinterpret_cast<void*>(begin); }
};

/// The pages that contain any of these bytes.
inline page_range pages_around(std::uintptr_t address, std::uintptr_t bytes) noexcept {
  return {page_of(address), in_pages(address + bytes) - page_of(address)};
}
/// The pages that consist only of these bytes.
inline page_range pages_within(std::uintptr_t address, std::uintptr_t bytes) noexcept {
  const std::uintptr_t first = in_pages(address);
  const std::uintptr_t last = page_of(address + bytes);
  return {first, last > first ? last - first : 0};
}

}  // namespace chorale::detail
