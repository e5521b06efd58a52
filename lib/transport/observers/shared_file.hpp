// A file that several ranks write.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace chorale::transport {

/// An open file, locked against other writers that use this class, on this host or, if the file system
/// supports locks (NFS since version 4), on others. Not thread-safe.
class shared_file {
 public:
  /// Opens or creates the file, and waits for the lock for at most ten seconds, in case its holder is
  /// stopped. @throws error naming the file.
  explicit shared_file(std::string path);
  shared_file(const shared_file&) = delete;
  shared_file& operator=(const shared_file&) = delete;
  ~shared_file();

  [[nodiscard]] std::uint64_t size() const;
  /// @throws error naming the file, as do the functions below.
  void append(std::string_view text);
  void write_at(std::uint64_t place, std::string_view text);
  [[nodiscard]] std::string read_at(std::uint64_t place, std::size_t bytes) const;
  void truncate(std::uint64_t bytes);

 private:
  [[noreturn]] void fail(const char* call) const;

  std::string path_;
  int file_;
};

/// @throws error if the file cannot be created or written; its text names `setting` as what requests the
/// file.
void require_writable(const std::string& path, const char* setting);

}  // namespace chorale::transport
