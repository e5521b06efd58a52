// SPDX-License-Identifier: Apache-2.0
// Resolves paths without following other users' symbolic links.
#pragma once

#include <stdexcept>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "unique_fd.hpp"

namespace chorale::detail {

/// Why a file was not opened. `what()` is a clause such as "it is a folder", with names made printable.
class file_refusal : public std::runtime_error {
 public:
  file_refusal(int errnum, const std::string& why)
      : std::runtime_error(why), errnum_(errnum), is_of_system_(false) {}
  /// With the system's text.
  explicit file_refusal(int errnum);
  [[nodiscard]] int errnum() const noexcept { return errnum_; }
  /// The path, with the reason unless it is the system's text for the errno, which the caller appends.
  [[nodiscard]] std::string about(const std::string& path) const;

 private:
  int errnum_;
  bool is_of_system_ = true;
};

/// The status of a file. @throws file_refusal with errno, also if `file` has no descriptor
[[nodiscard]] struct stat status_of(const unique_fd& file);

/// A name in a folder that is kept open, so that the folder cannot be replaced meanwhile.
struct file_place {
  unique_fd folder;
  std::string name;  ///< not a symbolic link when checked; need not exist
  /// The folder is /proc/PID/fd, so that opening the name follows a link of the kernel.
  bool is_descriptor = false;
  /// No other user can have put the folder there: it belongs to root or this user, or its parent is safe and
  /// writable only by its owner.
  bool is_safe = true;
};

/// Resolves a path up to its last name, following only trusted symbolic links. @throws file_refusal
[[nodiscard]] file_place place_of(const std::string& path);

/// Whether `entry`, in the folder of `at`, belongs to this user or root, or is in a safe folder that only its
/// owner can write. Otherwise another user may have put it there.
[[nodiscard]] bool is_trusted(const struct stat& entry, const file_place& at);

/// True if a folder belongs to this user and is not writable by others.
[[nodiscard]] inline bool is_own_folder(const struct stat& folder) noexcept {
  return S_ISDIR(folder.st_mode) && folder.st_uid == ::geteuid() &&
         (folder.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace chorale::detail
