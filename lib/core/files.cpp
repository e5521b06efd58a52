// SPDX-License-Identifier: Apache-2.0
#include "files.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "printable.hpp"
#include "streams_reserved.hpp"

namespace chorale::detail {
namespace {

/// Nonblocking, since opening would otherwise wait for the other end of a FIFO, or for the carrier of a
/// terminal line.
constexpr int always = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

void require_regular(const struct stat& s) {
  if (S_ISDIR(s.st_mode)) throw file_refusal{EISDIR, "it is a folder"};
  if (!S_ISREG(s.st_mode)) throw file_refusal{EINVAL, "it is no regular file"};
}

std::string text_of(const unique_fd& file, std::size_t most) {
  std::string text;
  for (;;) {
    char piece[65536];
    const ssize_t got = ::read(file.get(), piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw file_refusal{errno, std::string{"it cannot be read: "} + std::strerror(errno)};
    if (got == 0) return text;
    text.append(piece, static_cast<std::size_t>(got));
    if (text.size() > most) throw file_refusal{EFBIG, "it has more than " + std::to_string(most) + " bytes"};
  }
}

unique_fd open_folder(int from, const char* name, int flags) {
  return unique_fd{
      above_streams([&] { return ::openat(from, name, O_RDONLY | O_DIRECTORY | always | flags); })};
}

}  // namespace

unique_fd open_to_read(const std::string& path) {
  unique_fd file{above_streams([&] { return ::open(path.c_str(), O_RDONLY | always); })};
  require_regular(detail::status_of(file));
  return file;
}

std::string text_of_file(const std::string& path, std::size_t most) {
  return text_of(detail::open_to_read(path), most);
}

unique_fd open_to_write(const file_place& at, int flags, writes what) {
  constexpr mode_t mode = 0666;  // minus the user's umask
  const int more = O_CREAT | always | (at.is_descriptor ? 0 : O_NOFOLLOW);
  unique_fd file{
      above_streams([&] { return ::openat(at.folder.get(), at.name.c_str(), flags | more, mode); })};
  const struct stat s = detail::status_of(file);
  const struct stat folder = detail::status_of(at.folder);
  if (!at.is_descriptor) {
    constexpr mode_t others = S_IWGRP | S_IWOTH;
    const bool is_ours = s.st_uid == ::geteuid();
    if (S_ISREG(s.st_mode) && !is_ours && (!at.is_safe || (folder.st_mode & S_IWOTH) != 0))
      throw file_refusal{EPERM, "it is another user's file, in a folder of that user or that all can write"};
    if (S_ISREG(s.st_mode) && s.st_nlink > 1 && (folder.st_mode & others) != 0)
      throw file_refusal{EPERM, "it has another name, too, and others can write in its folder"};
    if (!S_ISREG(s.st_mode) && !detail::is_trusted(s, at))
      throw file_refusal{EPERM, "it is no regular file, and another user's"};
  }
  if (what == writes::regular) require_regular(s);
  return file;
}

std::pair<unique_fd, std::string> create_beside(const file_place& at) {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number))
    throw file_refusal{errno};
  std::string name = at.name + '.' + std::to_string(number);
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | always;
  unique_fd file{above_streams([&] { return ::openat(at.folder.get(), name.c_str(), flags, 0600); })};
  if (file.get() < 0) throw file_refusal{errno};
  return {std::move(file), std::move(name)};
}

held_folder held_folder::own(const std::string& path) {
  const file_place at = detail::place_of(path);
  held_folder held{path, open_folder(at.folder.get(), at.name.c_str(), O_NOFOLLOW)};
  if (!detail::is_own_folder(detail::status_of(held.folder_)))
    throw file_refusal{EPERM, "it is another user's folder, or others can write in it"};
  return held;
}

held_folder held_folder::made(const std::string& path) {
  const file_place at = detail::place_of(path);
  if (::mkdirat(at.folder.get(), at.name.c_str(), 0700) != 0 && errno != EEXIST)
    throw file_refusal{errno, std::string{"it cannot be made: "} + std::strerror(errno)};
  return own(path);
}

held_folder held_folder::named(const std::string& path) {
  held_folder held{path, open_folder(AT_FDCWD, path.c_str(), 0)};
  if (held.folder_.get() < 0) throw file_refusal{errno};
  return held;
}

std::string held_folder::path_of(std::string_view name) const {
  return path_ + '/' + std::string{name};
}

unique_fd held_folder::open(const std::string& name, int flags) const {
  unique_fd file{above_streams(
      [&] { return ::openat(folder_.get(), name.c_str(), flags | always | O_NOFOLLOW, 0600); })};
  require_regular(detail::status_of(file));
  return file;
}

std::string held_folder::text(const std::string& name, std::size_t most) const {
  return text_of(this->open(name, O_RDONLY), most);
}

bool held_folder::remove(const std::string& name) const noexcept {
  return ::unlinkat(folder_.get(), name.c_str(), 0) == 0;
}

}  // namespace chorale::detail
