// SPDX-License-Identifier: Apache-2.0
// A file that several ranks write.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "../../core/file_lock.hpp"
#include "../../core/file_place.hpp"
#include "../../core/files.hpp"
#include "../../core/unique_fd.hpp"

namespace chorale::transport {

/// An open file, locked against other processes of this user that use this class, on this host or, if the
/// file system supports locks (NFS since version 4), on others. The lock is a separate file (`file_lock`), so
/// that users who may only read this file cannot hold the lock. Not thread-safe.
class shared_file {
 public:
  /// Opens or creates the file, and waits for the lock for at most ten seconds, in case its holder is
  /// stopped. @throws error naming the file.
  explicit shared_file(const std::string& path);
  shared_file(const shared_file&) = delete;
  shared_file& operator=(const shared_file&) = delete;
  ~shared_file() = default;

  [[nodiscard]] std::uint64_t size() const;
  /// Appends without interleaving; on local file systems even without locks. @throws error naming the file.
  void append(std::string_view text);

 private:
  [[noreturn]] void fail(const char* call) const;
  void lock();

  std::string path_;
  detail::file_place at_;
  detail::unique_fd file_;
  detail::file_lock lock_;
};

/// @throws error if the file cannot be created or written; its text names `setting` as what requests the
/// file.
void require_writable(const std::string& path, const char* setting);

}  // namespace chorale::transport
