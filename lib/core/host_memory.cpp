// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

#include <chorale/core/error.hpp>
#include <chorale/core/host_memory.hpp>

#include "pages.hpp"

namespace chorale::detail {
namespace {

/// Calls `is_good(address)` for an address on each page of `memory`; of more than 256, on the last and others
/// at equal distances, at most 256 in all.
template <class IsGood>
bool all_pages(std::span<const std::byte> memory, const IsGood& is_good) noexcept {
  if (memory.empty()) return true;
  const std::uintptr_t page = page_bytes();
  constexpr std::uintptr_t most = 256;
  const auto first = reinterpret_cast<std::uintptr_t>(memory.data()) / page;
  const auto last = (reinterpret_cast<std::uintptr_t>(memory.data()) + (memory.size() - 1)) / page;
  // Rounded up, and one page fewer, as the last is always examined.
  const std::uintptr_t step = std::max<std::uintptr_t>(1, (last - first + most - 2) / (most - 1));
  for (std::uintptr_t i = first; i < last; i += step)
    if (!is_good(i * page)) return false;
  return is_good(last * page);
}

}  // namespace

// The kernel reads and changes a futex by the same loads and stores as this process, so that these checks are
// correct for all memory, including memory of a driver, which other system calls refuse to pin.

bool can_read(std::span<const std::byte> memory) noexcept {
  return all_pages(memory, [](std::uintptr_t at) {
    const timespec no_time{};
    // If the value happens to be the expected one, the wait ends at once, since its time limit is zero.
    return syscall(SYS_futex, at, FUTEX_WAIT_PRIVATE, 0, &no_time, nullptr, 0) == 0 || errno != EFAULT;
  });
}

bool can_write(std::span<const std::byte> memory) noexcept {
  return all_pages(memory, [](std::uintptr_t at) {
    constexpr int adds_nothing = FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0);
    std::uint32_t nobody_waits = 0;
    return syscall(SYS_futex, &nobody_waits, FUTEX_WAKE_OP_PRIVATE, 0, nullptr, at, adds_nothing) >= 0 ||
           errno != EFAULT;
  });
}

std::string fault_of_memory(std::span<const std::byte> memory, bool is_written) {
  return fmt::format(
      "this process cannot {} the {} bytes at {:#x} that the call {}: they are not (all) host memory; copy "
      "what is in the memory of a GPU to host memory first, or check pointer and size",
      is_written ? "write" : "read", memory.size(), reinterpret_cast<std::uintptr_t>(memory.data()),
      is_written ? "writes" : "reads");
}

void require_readable(std::span<const std::byte> memory) {
  if (!can_read(memory)) throw error(errc::invalid_argument, fault_of_memory(memory, false));
}

}  // namespace chorale::detail
