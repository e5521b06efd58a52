// Files of the system, whose names only the kernel and root make.
#pragma once

#include <string>

#include "unique_fd.hpp"

namespace chorale::detail {

/// Opens a file of /proc, /sys or /dev. -1 with errno.
[[nodiscard]] unique_fd open_of_system(const char* path, int flags = 0) noexcept;
/// What is in one; empty if it cannot be read, with errno.
[[nodiscard]] std::string text_of_system(const std::string& path);
/// Its first word, likewise.
[[nodiscard]] std::string word_of_system(const std::string& path);

}  // namespace chorale::detail
