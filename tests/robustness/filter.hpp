// SPDX-License-Identifier: Apache-2.0
// System call filters, as sandboxes set them.
#pragma once

#include <initializer_list>

namespace robustness {

/// Makes these system calls of this process and its children fail with `errnum` from now on. Returns 0, or
/// the kernel's errno if it refuses the filter. Call it before starting threads.
int forbid(std::initializer_list<int> system_calls, int errnum) noexcept;

/// The same for one call, if its first argument has any of the bits `flags`.
int forbid_with(int system_call, unsigned flags, int errnum) noexcept;

/// The calls that copy between processes.
int forbid_copies(int errnum) noexcept;

}  // namespace robustness
