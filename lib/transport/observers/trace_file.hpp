// SPDX-License-Identifier: Apache-2.0
// A file whose text survives the process that writes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "../../core/files.hpp"

namespace chorale::transport {

/// A new file NAME.json to which text is appended. The last part of the text is in NAME.tail, a small mapped
/// file: appending a text needs no system call until that file is full, and the text survives even if the
/// process is killed right after it. (Mapping the growing file itself costs more, because of its pages.) Not
/// thread-safe.
///
/// NAME.tail begins with the offset in NAME.json at which its text continues that file, in twenty digits and
/// a line break; the text ends at the first zero byte. If there is no text, NAME.json is complete.
class trace_file {
 public:
  /// The longest text.
  static constexpr std::size_t longest = 4096;

  /// @throws error naming the file; detail::file_refusal if it exists already.
  trace_file(detail::held_folder folder, std::string name);
  trace_file(const trace_file&) = delete;
  trace_file& operator=(const trace_file&) = delete;
  /// Writes everything to NAME.json and removes NAME.tail, unless the disk is full; in a child of fork(),
  /// does nothing.
  ~trace_file();

  /// Where to write the next text; null if there is no room on the disk.
  [[nodiscard]] char* place() noexcept {
    return next_ + 2 * longest <= end_ || flush() ? next_ + 1 : nullptr;
  }
  /// The same for two short texts at the end, for which there is always room.
  [[nodiscard]] char* last_place() noexcept { return next_ + 1; }
  /// Text has been written from `place()` to `end`: stores `first` before it, which makes all of it visible.
  void complete(char first, char* end) noexcept;

 private:
  [[nodiscard]] bool flush() noexcept;
  void set_size(std::uint64_t bytes) noexcept;

  std::int64_t process_;
  detail::held_folder folder_;
  std::string name_;
  detail::unique_fd file_;
  std::uint64_t size_ = 0;  ///< of the file
  char* tail_ = nullptr;
  char* next_ = nullptr;  ///< in the tail: its end, a zero
  char* end_ = nullptr;
};

}  // namespace chorale::transport
