// How the library and its tools open files: all by these functions, so that no other user decides which one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "file_place.hpp"
#include "system_files.hpp"
#include "unique_fd.hpp"

namespace chorale::detail {

/// Opens a regular file that the user has named. Never waits for another process, as the opening of a FIFO
/// would.
/// @throws file_refusal
[[nodiscard]] unique_fd open_to_read(const std::string& path);
/// What is in one, of at most `most` bytes. @throws file_refusal
[[nodiscard]] std::string text_of_file(const std::string& path, std::size_t most);

/// What may be written.
enum class writes {
  regular,   ///< a regular file
  anything,  ///< also a FIFO or a device, such as /dev/stdout, if no other user can have put it there
};
/// Opens or creates the file that stands at a place, with `flags` such as O_RDWR. Never another user's file
/// in a folder that all can write or that is not safe, nor one that has further names where others can write.
/// @throws file_refusal
[[nodiscard]] unique_fd open_to_write(const file_place& at, int flags, writes what = writes::regular);

/// Creates a file of mode 0600, to be written, whose name is that of the place and a number that nobody
/// foresees.
/// @throws file_refusal
[[nodiscard]] std::pair<unique_fd, std::string> create_beside(const file_place& at);

/// A folder that is held, and its files. Of these only regular ones are opened, and no symbolic links.
/// Functions throw file_refusal.
class held_folder {
 public:
  /// Of this user, and nobody else can write in it.
  [[nodiscard]] static held_folder own(const std::string& path);
  /// The same; makes it if there is none, with mode 0700.
  [[nodiscard]] static held_folder made(const std::string& path);
  /// Whoever it belongs to: one that the user has named.
  [[nodiscard]] static held_folder named(const std::string& path);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::string path_of(std::string_view name) const;
  /// The names of all that is in it, sorted.
  [[nodiscard]] std::vector<std::string> names() const;
  /// Opens a file, or creates it with mode 0600.
  [[nodiscard]] unique_fd open(const std::string& name, int flags) const;
  [[nodiscard]] std::string text(const std::string& name, std::size_t most) const;
  void rename(const std::string& from, const std::string& to) const;
  /// False if it cannot be removed, with errno.
  bool remove(const std::string& name) const noexcept;
  /// The folder itself, if it is empty.
  bool remove() const noexcept;
  [[nodiscard]] int descriptor() const noexcept { return folder_.get(); }

 private:
  held_folder(std::string path, unique_fd folder) : path_(std::move(path)), folder_(std::move(folder)) {}

  std::string path_;
  unique_fd folder_;
};

}  // namespace chorale::detail
