// SPDX-License-Identifier: Apache-2.0
#include "startup_lock.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

#include <chorale/core/clock.hpp>
#include <chorale/core/fnv.hpp>

#include "../core/file_place.hpp"
#include "../core/streams_reserved.hpp"
#include "../core/system_files.hpp"
#include "fabric.hpp"

namespace chorale::soft {
namespace {

constexpr std::chrono::seconds patience{30};
/// A process of this user holds the name for milliseconds only.
constexpr std::chrono::seconds patience_for_name{2};
constexpr clock::duration longest_nap = std::chrono::milliseconds{20};

/// Hundreds of waiting processes must not keep the working one from its core: each process's naps grow, by
/// random amounts.
class naps {
 public:
  void nap() {
    const auto chance = static_cast<std::int64_t>(random_word() % 1024);
    clock::sleep_for(longest_ / 2 + longest_ / 2 * chance / 1024);
    longest_ = std::min(longest_ * 3 / 2, longest_nap);
  }

 private:
  clock::duration longest_ = std::chrono::microseconds{500};
};

/// A folder in which other users can neither remove nor rename this user's files; empty if there is none.
/// Folders made by a session of the user, or by the launcher, come first: other users cannot take a name
/// there in advance.
detail::unique_fd own_folder() {
  const auto of_environment = [](const char* variable) {
    const char* value = std::getenv(variable);
    return std::string{value != nullptr && *value == '/' ? value : ""};
  };
  for (const std::string& path :
       {of_environment("XDG_RUNTIME_DIR"), "/run/user/" + std::to_string(geteuid()), std::string{"/run"},
        of_environment("PMIX_SERVER_TMPDIR"), std::string{"/tmp"}}) {
    if (path.empty()) continue;
    detail::unique_fd folder = detail::open_of_system(path.c_str(), O_DIRECTORY);
    struct stat s {};
    if (folder.get() < 0 || fstat(folder.get(), &s) != 0) continue;
    if (detail::is_own_folder(s) || (path == "/tmp" && s.st_uid == 0 && (s.st_mode & S_ISVTX) != 0))
      return folder;
  }
  return detail::unique_fd{};
}

}  // namespace

int startup_lock::take(const std::string& prefix) {
  const auto begun = clock::now();
  folder_ = own_folder();
  if (folder_.get() >= 0) {
    char name[64];
    std::snprintf(name, sizeof name, ".chorale-soft-%u-%016llx.lock", static_cast<unsigned>(geteuid()),
                  static_cast<unsigned long long>(chorale::detail::fnv1a(prefix)));
    lock_ = std::make_unique<detail::file_lock>(folder_.get(), name);
  }
  naps between;
  for (;; between.nap()) {
    name_.reset(bind_name(prefix + "/lock"));
    if (name_.get() >= 0) break;
    if (errno != EADDRINUSE) return errno;
    if (lock_ && clock::now() - begun > patience_for_name) break;
    if (clock::now() - begun > patience) return ETIMEDOUT;
  }
  if (!lock_) return 0;
  for (;; between.nap()) {
    const int status = lock_->try_lock();
    if (status == 0) return 0;
    const bool is_late = clock::now() - begun > patience;
    if (status == EWOULDBLOCK && !is_late) continue;
    if (status == EWOULDBLOCK) return ETIMEDOUT;
    // File locks do not work here, so the name must suffice.
    if (name_.get() >= 0) return 0;
    if (is_late) return ETIMEDOUT;
    name_.reset(bind_name(prefix + "/lock"));
  }
}

int bind_name(const std::string& name) noexcept {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.size() + 1 > sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  detail::unique_fd fd{detail::above_streams([&] { return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0); })};
  if (fd.get() < 0) return -1;
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0) {
    const int saved = errno;
    fd.reset();
    errno = saved;
  }
  return fd.release();
}

}  // namespace chorale::soft
