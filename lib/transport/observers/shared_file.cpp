#include "shared_file.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include <chorale/core/clock.hpp>
#include <chorale/core/error.hpp>

#include "../../core/printable.hpp"
#include "../../core/streams_reserved.hpp"

namespace chorale::transport {
namespace {

constexpr auto patience = std::chrono::seconds{10};
constexpr mode_t mode = 0666;  // minus the user's umask

}  // namespace

shared_file::shared_file(std::string path)
    : path_(std::move(path)),
      file_(
          detail::above_streams([&] { return ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, mode); })) {
  if (file_ < 0) fail("open");
  const auto end = clock::now() + patience;
  while (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
    // Some file systems have no locks: then lines of several ranks may interleave.
    if (errno == ENOLCK || errno == ENOSYS || errno == EOPNOTSUPP) return;
    const int why = errno;
    if ((why == EWOULDBLOCK || why == EINTR) && clock::now() < end) {
      clock::sleep_for(std::chrono::milliseconds{1});
      continue;
    }
    ::close(file_);
    errno = why;
    fail("flock");
  }
}

shared_file::~shared_file() {
  ::close(file_);
}

void shared_file::fail(const char* call) const {
  throw_errno(errno, call, printable(path_), "choose a file that all ranks can write");
}

std::uint64_t shared_file::size() const {
  struct stat seen {};
  if (::fstat(file_, &seen) != 0) fail("fstat");
  return static_cast<std::uint64_t>(seen.st_size);
}

void shared_file::append(std::string_view text) {
  write_at(size(), text);
}

void shared_file::write_at(std::uint64_t place, std::string_view text) {
  while (!text.empty()) {
    const auto written = ::pwrite(file_, text.data(), text.size(), static_cast<off_t>(place));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("pwrite");
    place += static_cast<std::uint64_t>(written);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string shared_file::read_at(std::uint64_t place, std::size_t bytes) const {
  std::string text(bytes, '\0');
  std::size_t have = 0;
  while (have < bytes) {
    const auto got = ::pread(file_, text.data() + have, bytes - have, static_cast<off_t>(place + have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("pread");
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  text.resize(have);
  return text;
}

void shared_file::truncate(std::uint64_t bytes) {
  if (::ftruncate(file_, static_cast<off_t>(bytes)) != 0) fail("ftruncate");
}

void require_writable(const std::string& path, const char* setting) {
  const int file = detail::above_streams(
      [&] { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, mode); });
  if (file < 0)
    throw error(
        errc::invalid_environment,
        fmt::format("{} names '{}', which cannot be written: {}; name a file in a folder that is there",
                    setting, printable(path), std::strerror(errno)));
  ::close(file);
}

}  // namespace chorale::transport
