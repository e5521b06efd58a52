// What a kernel would find out about memory that is to be registered: for the providers that have none.
#pragma once

#include <cstdint>

namespace chorale::verbs {

/// Why memory cannot be registered with these rights (IBV_ACCESS_*): EINVAL for what is wrong, EOPNOTSUPP for
/// what these providers do not have, EFAULT for pages that are not there or cannot be written (kernels before
/// 5.14 do not say so); 0 if it can.
int registration_failure(std::uint64_t address, std::uint64_t bytes, int access) noexcept;

/// Whether some of it is a file's that is mapped to be shared, and lies on a disk: kernels from 6.5 on do not
/// pin such pages.
bool is_mapped_file(std::uint64_t address, std::uint64_t bytes) noexcept;

}  // namespace chorale::verbs
