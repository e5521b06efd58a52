// SPDX-License-Identifier: Apache-2.0
// System files, whose names only the kernel and root can create.
#pragma once

#include <string>

#include "unique_fd.hpp"

namespace chorale::detail {

/// Opens a file of /proc, /sys or /dev. -1 with errno.
[[nodiscard]] unique_fd open_of_system(const char* path, int flags = 0) noexcept;
/// The contents of such a file; empty, with errno, if it cannot be read.
[[nodiscard]] std::string text_of_system(const std::string& path);
/// The first word of such a file; empty, with errno, if it cannot be read.
[[nodiscard]] std::string word_of_system(const std::string& path);

}  // namespace chorale::detail
