// SPDX-License-Identifier: Apache-2.0
#include "file_place.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/limits.h>
#include <linux/magic.h>
#include <string_view>
#include <sys/vfs.h>
#include <utility>

#include "printable.hpp"
#include "streams_reserved.hpp"

namespace chorale::detail {
namespace {

constexpr int most_links = 40;  // the kernel's limit

unique_fd hold(const file_place& at, int flags) {
  return unique_fd{above_streams(
      [&] { return ::openat(at.folder.get(), at.name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC | flags); })};
}

unique_fd hold_folder(const char* path) {
  unique_fd held{above_streams([&] { return ::open(path, O_PATH | O_DIRECTORY | O_CLOEXEC); })};
  if (held.get() < 0) throw file_refusal{errno};
  return held;
}

bool is_of_proc(const unique_fd& folder) noexcept {
  struct statfs s {};
  return ::fstatfs(folder.get(), &s) == 0 && s.f_type == PROC_SUPER_MAGIC;
}

std::string target_of(const unique_fd& link) {
  std::string target(PATH_MAX, '\0');
  const auto bytes = ::readlinkat(link.get(), "", target.data(), target.size());
  if (bytes < 0) throw file_refusal{errno};
  target.resize(static_cast<std::size_t>(bytes));
  return target;
}

/// Removes the first name from a path that does not begin with a slash, and returns it.
std::string take_name(std::string& path) {
  const auto end = path.find('/');
  std::string name = path.substr(0, end);
  path.erase(0, path.find_first_not_of('/', end));
  return name;
}

}  // namespace

file_refusal::file_refusal(int errnum)
    : std::runtime_error(std::string{"it cannot be opened: "} + std::strerror(errnum)), errnum_(errnum) {}

std::string file_refusal::about(const std::string& path) const {
  return is_of_system_ ? printable(path) : printable(path) + ": " + what();
}

struct stat status_of(const unique_fd& file) {
  struct stat s {};
  if (file.get() < 0 || ::fstat(file.get(), &s) != 0) throw file_refusal{errno};
  return s;
}

bool is_trusted(const struct stat& entry, const file_place& at) {
  return entry.st_uid == ::geteuid() || entry.st_uid == 0 ||
         (at.is_safe && (detail::status_of(at.folder).st_mode & (S_IWGRP | S_IWOTH)) == 0);
}

file_place place_of(const std::string& path) {
  if (path.empty()) throw file_refusal{ENOENT};
  if (path.find('\0') != std::string::npos) throw file_refusal{EINVAL};
  std::string rest = path;
  file_place at{hold_folder("."), {}};
  const uid_t here = detail::status_of(at.folder).st_uid;
  at.is_safe = here == ::geteuid() || here == 0;
  for (int links_left = most_links;;) {
    if (rest.starts_with('/')) {
      at.folder = hold_folder("/");
      at.is_safe = true;
      rest.erase(0, rest.find_first_not_of('/'));
    }
    const bool is_folder = rest.ends_with('/');
    at.name = take_name(rest);
    const bool is_last = rest.empty();
    if (is_last && (is_folder || at.name.empty() || at.name == "." || at.name == ".."))
      throw file_refusal{EISDIR, "it is a folder"};
    if (!is_last) {
      // Try it as a folder first, since only that makes an automounter mount it.
      if (unique_fd next = hold(at, O_DIRECTORY); next.get() >= 0) {
        at.is_safe = detail::is_trusted(detail::status_of(next), at);
        at.folder = std::move(next);
        continue;
      }
      if (errno != ENOTDIR) throw file_refusal{errno};
    }
    const unique_fd entry = hold(at, 0);
    if (entry.get() < 0) {
      if (is_last && errno == ENOENT) return at;
      throw file_refusal{errno};
    }
    const struct stat seen = detail::status_of(entry);
    if (!S_ISLNK(seen.st_mode)) {
      if (is_last) return at;
      throw file_refusal{ENOTDIR};
    }
    at.is_descriptor = is_last && is_of_proc(at.folder);
    if (at.is_descriptor) return at;
    if (!detail::is_trusted(seen, at))
      throw file_refusal{EPERM, "'" + printable(at.name) + "' is a symbolic link of another user"};
    if (--links_left == 0) throw file_refusal{ELOOP};
    const std::string target = target_of(entry);
    rest = is_last ? target : target + '/' + rest;
  }
}

}  // namespace chorale::detail
