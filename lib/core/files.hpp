// SPDX-License-Identifier: Apache-2.0
// The library and its tools open all files by these functions, so that other users cannot redirect them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "file_place.hpp"
#include "system_files.hpp"
#include "unique_fd.hpp"

namespace chorale::detail {

/// Opens a regular file that the user has named. Never waits for another process, as opening a FIFO would.
/// @throws file_refusal
[[nodiscard]] unique_fd open_to_read(const std::string& path);
/// The contents of such a file, at most `most` bytes. @throws file_refusal
[[nodiscard]] std::string text_of_file(const std::string& path, std::size_t most);

/// Which kinds of files may be written.
enum class writes {
  regular,   ///< a regular file
  anything,  ///< also a FIFO or a device, such as /dev/stdout, unless another user may have put it there
};
/// Opens or creates the file at a place, with `flags` such as O_RDWR. Never opens another user's file in a
/// folder that is not safe or that all can write, nor a file with several hard links in a folder that others
/// can write. @throws file_refusal
[[nodiscard]] unique_fd open_to_write(const file_place& at, int flags, writes what = writes::regular);

/// Creates a file of mode 0600 for writing, named after the place with an unpredictable number appended.
/// @throws file_refusal
[[nodiscard]] std::pair<unique_fd, std::string> create_beside(const file_place& at);

/// A folder that is kept open, and its files. Opens only regular files and no symbolic links. Functions throw
/// file_refusal.
class held_folder {
 public:
  /// A folder that belongs to this user and is not writable by others.
  [[nodiscard]] static held_folder own(const std::string& path);
  /// The same; creates the folder with mode 0700 if necessary.
  [[nodiscard]] static held_folder made(const std::string& path);
  /// A folder that the user has named, whoever owns it.
  [[nodiscard]] static held_folder named(const std::string& path);

  [[nodiscard]] std::string path_of(std::string_view name) const;
  /// Opens a file, or creates it with mode 0600.
  [[nodiscard]] unique_fd open(const std::string& name, int flags) const;
  [[nodiscard]] std::string text(const std::string& name, std::size_t most) const;
  /// Removes a file. False with errno on failure.
  bool remove(const std::string& name) const noexcept;
  [[nodiscard]] int descriptor() const noexcept { return folder_.get(); }

 private:
  held_folder(std::string path, unique_fd folder) : path_(std::move(path)), folder_(std::move(folder)) {}

  std::string path_;
  unique_fd folder_;
};

}  // namespace chorale::detail
