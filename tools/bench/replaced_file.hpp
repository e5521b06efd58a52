// A file that is written anew: whole, or not at all.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "../../lib/core/file_place.hpp"

namespace bench {

/// Writes beside a file and takes its place at the end, so that what is there stays as it is until all of the
/// new one is there. Symbolic links and files that another user may have put there are refused. What is no
/// regular file, such as /dev/stdout, is written to at once.
class replaced_file {
 public:
  /// @throws std::system_error naming the file if it cannot be written.
  explicit replaced_file(std::string file);
  replaced_file(const replaced_file&) = delete;
  replaced_file& operator=(const replaced_file&) = delete;
  /// Without `finish` nothing has changed.
  ~replaced_file();

  /// @throws std::system_error as above.
  void write(std::string_view text);
  void finish();

 private:
  void open();
  void remove_beside() noexcept;
  [[noreturn]] void fail() const;

  std::string file_;  ///< as it was named
  chorale::detail::file_place at_;
  std::string beside_;  ///< empty if there is no such file, or no more
  std::FILE* out_ = nullptr;
};

/// Empty if the file can be written, else why not: for programs that measure for long before they write. What
/// is in the file stays, and none is left behind.
std::string fault_of(const std::string& file);

/// All of it at once. @throws std::system_error naming the file if it cannot be written.
void replace_file(const std::string& file, std::string_view text);

}  // namespace bench
