// SPDX-License-Identifier: Apache-2.0
#include "shared_file.hpp"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <fmt/format.h>

#include <chorale/core/clock.hpp>
#include <chorale/core/error.hpp>

#include "../../core/printable.hpp"

namespace chorale::transport {
namespace {

constexpr auto patience = std::chrono::seconds{10};
/// Contains the user's number, so that lock files of other users do not matter.
std::string lock_of(const std::string& name) {
  return fmt::format(".{}.{}.lock", name, ::geteuid());
}

/// The value, or an error that names the file.
template <class Open>
auto opened(const std::string& path, Open open) {
  try {
    return open();
  } catch (const detail::file_refusal& refused) {
    throw_errno(refused.errnum(), "open", refused.about(path),
                "choose a file that all ranks can write, in a folder that others cannot");
  }
}

}  // namespace

shared_file::shared_file(const std::string& path)
    : path_(path),
      at_(opened(path, [&] { return detail::place_of(path); })),
      file_(opened(path, [&] { return detail::open_to_write(at_, O_RDWR); })),
      lock_(at_.folder.get(), lock_of(at_.name)) {
  lock();
}

void shared_file::lock() {
  const auto end = clock::now() + patience;
  int status = 0;
  while ((status = lock_.try_lock()) == EWOULDBLOCK) {
    if (clock::now() >= end) {
      errno = EWOULDBLOCK;
      fail("flock");
    }
    clock::sleep_for(std::chrono::milliseconds{1});
  }
  // Any other error: locks are not available here, and lines from ranks of different hosts may interleave.
}

void shared_file::fail(const char* call) const {
  throw_errno(errno, call, printable(path_), "choose a file that all ranks can write");
}

std::uint64_t shared_file::size() const {
  struct stat seen {};
  if (::fstat(file_.get(), &seen) != 0) fail("fstat");
  return static_cast<std::uint64_t>(seen.st_size);
}

void shared_file::append(std::string_view text) {
#ifdef RWF_APPEND
  const iovec all{const_cast<char*>(text.data()), text.size()};
  const ssize_t appended = ::pwritev2(file_.get(), &all, 1, 0, RWF_APPEND);
  if (appended == static_cast<ssize_t>(text.size())) return;
  if (appended > 0) text.remove_prefix(static_cast<std::size_t>(appended));
#endif
  for (std::uint64_t place = size(); !text.empty();) {
    const auto written = ::pwrite(file_.get(), text.data(), text.size(), static_cast<off_t>(place));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("pwrite");
    place += static_cast<std::uint64_t>(written);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void require_writable(const std::string& path, const char* setting) {
  try {
    static_cast<void>(detail::open_to_write(detail::place_of(path), O_WRONLY));
  } catch (const detail::file_refusal& refused) {
    throw error(
        errc::invalid_environment,
        fmt::format("{} names '{}', which cannot be written: {}; name a file of your own, in a folder "
                    "that is there",
                    setting, printable(path), refused.what()));
  }
}

}  // namespace chorale::transport
