// A file written through a mapping, so that its content survives the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "../../core/files.hpp"

namespace chorale::transport {

/// A new mapped file of at most `most` bytes. Disk space is allocated a mebibyte at a time before it is
/// written, so that a full disk is detected here instead of raising a signal. Not thread-safe.
class trace_memory {
 public:
  /// @throws error naming the file; detail::file_refusal if the folder no longer exists.
  trace_memory(const detail::held_folder& folder, const std::string& name, std::size_t most);
  trace_memory(const trace_memory&) = delete;
  trace_memory& operator=(const trace_memory&) = delete;
  /// Truncates the file to the used size.
  ~trace_memory();

  [[nodiscard]] int file() const noexcept { return file_.get(); }
  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  /// Ensures room up to byte `end`; false if there is none.
  [[nodiscard]] bool reach(std::size_t end) noexcept {
    used_ = end > used_ ? end : used_;
    return end <= room_ || grow(end);
  }

 private:
  [[nodiscard]] bool grow(std::size_t end) noexcept;

  std::size_t most_;
  std::int64_t process_;
  detail::unique_fd file_;
  std::byte* data_ = nullptr;
  std::size_t room_ = 0;
  std::size_t used_ = 0;
};

}  // namespace chorale::transport
