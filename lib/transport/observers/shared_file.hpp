// A file that several ranks write.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace chorale::transport {

/// An open file that nobody else writes through one of these at the same time, on this host or, where the
/// file system knows locks (NFS since version 4), on another. Not thread-safe.
class shared_file {
 public:
  /// Opens it, made if it is not there, and waits until it is free: for ten seconds, in case that its holder
  /// is stopped. @throws error naming the file.
  explicit shared_file(std::string path);
  shared_file(const shared_file&) = delete;
  shared_file& operator=(const shared_file&) = delete;
  ~shared_file();

  [[nodiscard]] std::uint64_t size() const;
  /// @throws error naming the file, as the others below.
  void append(std::string_view text);
  void write_at(std::uint64_t place, std::string_view text);
  [[nodiscard]] std::string read_at(std::uint64_t place, std::size_t bytes) const;
  void truncate(std::uint64_t bytes);

 private:
  [[noreturn]] void fail(const char* call) const;

  std::string path_;
  int file_;
};

/// @throws error if the file cannot be made or written, in whose text `setting` names what asks for it.
void require_writable(const std::string& path, const char* setting);

}  // namespace chorale::transport
