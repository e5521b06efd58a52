// SPDX-License-Identifier: Apache-2.0
// The kernel's checks of memory at registration, for providers without a kernel driver.
#pragma once

#include <cstdint>

namespace chorale::verbs {

/// Why memory cannot be registered with these rights (IBV_ACCESS_*): EINVAL for invalid arguments, EOPNOTSUPP
/// for rights that these providers do not support, EFAULT for pages that are not mapped or not writable
/// (kernels before 5.14 do not report the latter); 0 if it can.
int registration_failure(std::uint64_t address, std::uint64_t bytes, int access) noexcept;

/// Whether part of the memory is a shared mapping of a file on a disk: kernels from 6.5 on do not pin such
/// pages.
bool is_mapped_file(std::uint64_t address, std::uint64_t bytes) noexcept;

}  // namespace chorale::verbs
