// SPDX-License-Identifier: Apache-2.0
// A file whose text survives the process that writes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "../../core/files.hpp"

namespace chorale::transport {

/// A new file NAME.json to which text is appended. What is not yet in it is in NAME.tail, a small file that
/// is mapped: a text costs no call of the system until that is full, and is nevertheless there if the process
/// is killed right after it. (Mapping the growing file itself costs more, for its pages.) Not thread-safe.
///
/// NAME.tail begins with the size of NAME.json up to which it continues that, in twenty digits and a line
/// break, and ends with the first zero. While nothing is behind the digits, NAME.json is complete as it is.
class trace_file {
 public:
  /// The longest text.
  static constexpr std::size_t longest = 4096;

  /// @throws error naming the file; detail::file_refusal if it is there already.
  trace_file(detail::held_folder folder, std::string name);
  trace_file(const trace_file&) = delete;
  trace_file& operator=(const trace_file&) = delete;
  /// Writes all to NAME.json and removes NAME.tail, unless the disk is full; in a child of fork(), does
  /// nothing.
  ~trace_file();

  /// Where to write the next text; null if there is no room on the disk.
  [[nodiscard]] char* place() noexcept {
    return next_ + 2 * longest <= end_ || flush() ? next_ + 1 : nullptr;
  }
  /// The same for two short texts at the end, for which there is always room.
  [[nodiscard]] char* last_place() noexcept { return next_ + 1; }
  /// Text has been written from `place()` to `end`: precedes it by `first`, and so makes it visible at once.
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
