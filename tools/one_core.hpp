// SPDX-License-Identifier: Apache-2.0
// Threads that stay on one core.
#pragma once

#include <cstddef>
#include <sched.h>

namespace tools {

/// Keeps the calling thread on that core. @returns whether the system lets it. May be called in the child of
/// a program with threads.
inline bool keep_on_core(int core) noexcept {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(static_cast<std::size_t>(core), &only);
  return sched_setaffinity(0, sizeof only, &only) == 0;
}

}  // namespace tools
