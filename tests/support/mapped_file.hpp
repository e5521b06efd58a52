// Memory that is a file, which devices may refuse to register.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>

namespace support {

/// A shared mapping of an unnamed file of zero bytes.
class mapped_file {
 public:
  explicit mapped_file(std::size_t bytes) : bytes_(bytes) {
    char path[] = "/tmp/chorale-mapped-XXXXXX";
    const int fd = mkstemp(path);
    if (fd < 0) throw std::runtime_error("no temporary file");
    unlink(path);
    void* at = MAP_FAILED;
    if (ftruncate(fd, static_cast<off_t>(bytes)) == 0)
      at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (at == MAP_FAILED) throw std::runtime_error("a temporary file cannot be mapped");
    data_ = static_cast<std::byte*>(at);
  }
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;
  ~mapped_file() { munmap(data_, bytes_); }

  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {data_, bytes_}; }

 private:
  std::size_t bytes_;
  std::byte* data_ = nullptr;
};

}  // namespace support
