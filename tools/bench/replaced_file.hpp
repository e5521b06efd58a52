// SPDX-License-Identifier: Apache-2.0
// Replaces a file as a whole, or not at all.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "../../lib/core/file_place.hpp"

namespace bench {

/// Writes a temporary file in the same folder and renames it at the end, so that the old file stays unchanged
/// until the new one is complete. Symbolic links and files that another user may have placed there are
/// refused. Other files than regular ones, such as /dev/stdout, are written directly.
class replaced_file {
 public:
  /// @throws std::system_error naming the file if it cannot be written.
  explicit replaced_file(std::string file);
  replaced_file(const replaced_file&) = delete;
  replaced_file& operator=(const replaced_file&) = delete;
  /// Without `finish`, the old file stays.
  ~replaced_file();

  /// @throws std::system_error as above.
  void write(std::string_view text);
  void finish();

 private:
  void open();
  void remove_beside() noexcept;
  [[noreturn]] void fail() const;

  std::string file_;  ///< the given name
  chorale::detail::file_place at_;
  std::string beside_;  ///< the temporary file; empty if there is none
  std::FILE* out_ = nullptr;
};

/// For programs that measure for a long time before they write: neither changes the file nor leaves a new one
/// behind. Pipes and devices are not opened, since their readers would notice.
/// @throws std::system_error naming the file if it cannot be written.
void check_file(const std::string& file);

/// Writes the whole text at once. @throws std::system_error naming the file if it cannot be written.
void replace_file(const std::string& file, std::string_view text);

}  // namespace bench
