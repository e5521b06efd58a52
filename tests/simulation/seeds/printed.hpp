// SPDX-License-Identifier: Apache-2.0
// The output of a process and its children to standard error.
#pragma once

#include <cerrno>
#include <cstddef>
#include <string>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>

namespace seeds {

/// Holds the standard error of processes that call `redirect`, even if they crash: in memory that the parent
/// has created and can still read.
class printed {
 public:
  printed() : file_(memfd_create("printed", MFD_CLOEXEC)) {
    if (file_ < 0) throw std::system_error(errno, std::generic_category(), "memfd_create");
  }
  printed(const printed&) = delete;
  printed& operator=(const printed&) = delete;
  ~printed() { close(file_); }

  /// Redirects the standard error of this process.
  void redirect() const {
    if (dup2(file_, STDERR_FILENO) < 0) throw std::system_error(errno, std::generic_category(), "dup2");
  }
  /// Returns the output since the last call.
  [[nodiscard]] std::string take() const {
    const off_t end = lseek(file_, 0, SEEK_CUR);
    if (end <= 0) return {};
    std::string text(static_cast<std::size_t>(end), '\0');
    const ssize_t got = pread(file_, text.data(), text.size(), 0);
    text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    if (ftruncate(file_, 0) != 0 || lseek(file_, 0, SEEK_SET) != 0)
      throw std::system_error(errno, std::generic_category(), "ftruncate");
    return text;
  }

 private:
  int file_;
};

}  // namespace seeds
