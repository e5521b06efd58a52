// Where a path leads, without another user's symbolic links.
#pragma once

#include <stdexcept>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "unique_fd.hpp"

namespace chorale::detail {

/// Why a file is not opened. `what` is a clause such as "it is a folder", with names made printable.
class file_refusal : public std::runtime_error {
 public:
  file_refusal(int errnum, const std::string& why)
      : std::runtime_error(why), errnum_(errnum), is_of_system_(false) {}
  /// With the system's text.
  explicit file_refusal(int errnum);
  [[nodiscard]] int errnum() const noexcept { return errnum_; }
  /// The path, and why it is refused if the system's text, which is to follow, does not tell.
  [[nodiscard]] std::string about(const std::string& path) const;

 private:
  int errnum_;
  bool is_of_system_ = true;
};

/// Of an open or held file. @throws file_refusal, for errno if there is none
[[nodiscard]] struct stat status_of(const unique_fd& file);

/// A name in a folder that is held, so that nobody can put another folder in its place.
struct file_place {
  unique_fd folder;
  std::string name;  ///< no symbolic link when it was looked at; there need not be such a file
  /// The name is of /proc/PID/fd, so that opening it follows a link of the kernel.
  bool is_descriptor = false;
  /// Whoever owns the folder has it from root or from this user, and not from a folder that others can write.
  bool is_safe = true;
};

/// Follows a path up to its last name. Of symbolic links, those are followed that are trusted. @throws
/// file_refusal
[[nodiscard]] file_place place_of(const std::string& path);

/// Whether what `entry` describes, in the folder of a place, is of this user or root, or is in a safe folder
/// that only its owner can write. All else another user may have put there.
[[nodiscard]] bool is_trusted(const struct stat& entry, const file_place& at);

/// True if a folder is this user's, and nobody else can write in it.
[[nodiscard]] inline bool is_own_folder(const struct stat& folder) noexcept {
  return S_ISDIR(folder.st_mode) && folder.st_uid == ::geteuid() &&
         (folder.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace chorale::detail
