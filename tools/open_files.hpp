// SPDX-License-Identifier: Apache-2.0
// The number of files that a program may open.
#pragma once

#include <sys/resource.h>

namespace tools {

/// Raises it as far as the system lets this process: each simulated rank opens several, and the usual limit
/// of 1024 is there for programs that call select.
inline void allow_many_files() noexcept {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace tools
