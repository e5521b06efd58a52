// What a process and its children print to standard error.
#pragma once

#include <cerrno>
#include <cstddef>
#include <string>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>

namespace seeds {

/// Holds what is printed to standard error by those who call `redirect`, even if they crash: it is in memory
/// that a parent made before and can still read.
class printed {
 public:
  printed() : file_(memfd_create("printed", MFD_CLOEXEC)) {
    if (file_ < 0) throw std::system_error(errno, std::generic_category(), "memfd_create");
  }
  printed(const printed&) = delete;
  printed& operator=(const printed&) = delete;
  ~printed() { close(file_); }

  /// Standard error of this process goes there.
  void redirect() const {
    if (dup2(file_, STDERR_FILENO) < 0) throw std::system_error(errno, std::generic_category(), "dup2");
  }
  /// What was printed since the last time.
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
