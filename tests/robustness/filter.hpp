// System call filters, as sandboxes set them.
#pragma once

#include <initializer_list>

namespace robustness {

/// From now on these system calls of this process (and of what it starts) fail with `errnum`. Returns 0, or
/// the errno of the kernel that refuses the filter. Call it before there are threads.
int forbid(std::initializer_list<int> system_calls, int errnum) noexcept;

/// The same of one call, if its first argument has any of the bits `flags`.
int forbid_with(int system_call, unsigned flags, int errnum) noexcept;

/// The calls that copy between processes.
int forbid_copies(int errnum) noexcept;

}  // namespace robustness
