// SPDX-License-Identifier: Apache-2.0
// Memory that is a file, which devices may refuse to register.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace support {

/// Maps an unnamed file of `bytes` zero bytes, as shared memory.
inline std::byte* map_file(std::size_t bytes) {
  char path[] = "/tmp/chorale-mapped-XXXXXX";
  const int fd = mkstemp(path);
  if (fd < 0) throw std::runtime_error("no temporary file");
  unlink(path);
  void* at = MAP_FAILED;
  if (ftruncate(fd, static_cast<off_t>(bytes)) == 0)
    at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (at == MAP_FAILED) throw std::runtime_error("a temporary file cannot be mapped");
  return static_cast<std::byte*>(at);
}

/// A shared mapping of an unnamed file of zero bytes.
class mapped_file {
 public:
  explicit mapped_file(std::size_t bytes) : bytes_(bytes), data_(map_file(bytes)) {}
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;
  ~mapped_file() { munmap(data_, bytes_); }

  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {data_, bytes_}; }

 private:
  std::size_t bytes_;
  std::byte* data_;
};

/// Whether this thread maps files for the buffers of checked calls; initially if CHORALE_TEST_MEMORY=files.
inline bool& buffers_are_files() noexcept {
  static const char* const set = std::getenv("CHORALE_TEST_MEMORY");
  thread_local bool are = set != nullptr && std::string_view{set} == "files";
  return are;
}

/// Sets `buffers_are_files` during its lifetime.
class files_for_buffers {
 public:
  explicit files_for_buffers(bool are_files) noexcept
      : before_(std::exchange(buffers_are_files(), are_files)) {}
  files_for_buffers(const files_for_buffers&) = delete;
  files_for_buffers& operator=(const files_for_buffers&) = delete;
  ~files_for_buffers() { buffers_are_files() = before_; }

 private:
  bool before_;
};

/// Returns memory to the heap, or unmaps it.
struct buffer_release {
  std::size_t mapped_bytes = 0;  ///< 0: on the heap
  void operator()(std::byte* at) const noexcept {
    if (mapped_bytes != 0)
      munmap(static_cast<void*>(at), mapped_bytes);
    else
      ::operator delete(at);
  }
};
using buffer = std::unique_ptr<std::byte[], buffer_release>;

/// Memory on the heap or, if `buffers_are_files`, in a file. Its content is undefined.
inline buffer make_buffer(std::size_t bytes) {
  if (buffers_are_files()) return {map_file(bytes), {bytes}};
  return buffer{static_cast<std::byte*>(::operator new(bytes))};
}

}  // namespace support
