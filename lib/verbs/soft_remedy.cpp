// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdlib>

#include <fmt/format.h>

#include <chorale/core/config.hpp>

#include "../core/printable.hpp"
#include "../core/shortage.hpp"
#include "device_profile.hpp"
#include "failure.hpp"

namespace chorale::verbs {
namespace {

/// The settings of soft0 that are set, with their accepted values: one of them is invalid.
std::string settings_remedy() {
  std::string text;
  int set = 0;
  for (const auto& v : environment_variables()) {
    const std::string name{v.name};
    const char* value = name.starts_with("CHORALE_SOFT_") ? std::getenv(name.c_str()) : nullptr;
    if (value == nullptr || name == "CHORALE_SOFT_FABRIC" || name == "CHORALE_SOFT_SHARE") continue;
    std::string wrong;
    if (name == "CHORALE_SOFT_PROFILE") {
      device_profile ignored;
      wrong = read_profile(value, 0, ignored);
      if (wrong.empty()) continue;
    }
    ++set;
    text += fmt::format("{}{}='{}' ({})", text.empty() ? "" : ", ", name, printable(value),
                        wrong.empty() ? fmt::format("it accepts {}", v.accepts) : wrong);
  }
  if (set == 0) return "soft0 could not be set up";
  return (set == 1 ? "a setting cannot be used; correct or unset it: "
                   : "one of these settings cannot be used; correct or unset it: ") +
         text;
}

}  // namespace

std::string soft_remedy(int errnum) {
  switch (errnum) {
    case EMFILE:
    case ENFILE:
      return "no file descriptors are left: raise the limit of open files (ulimit -n, or LimitNOFILE and "
             "fs.file-max); soft0 needs about 10 for itself and 3 for each process that it talks to";
    case ENOMEM:
      return fmt::format(
          "no memory or address space is left: raise {}; soft0 reserves 1 GiB of addresses, of which it uses "
          "little, for itself and for each process that it talks to",
          memory_limits());
    case EAGAIN:
      return why_no_thread();
    case ENOENT:
      return "the processes of soft0 find each other in /proc, which is not mounted here (or, after "
             "chroot(), no more) or hides them: mount it (mount -t proc proc /proc)";
    case EACCES:
    case EPERM:
      return "the processes of soft0 open each other's memory in /proc, which is forbidden here: start all "
             "ranks as one user, without file capabilities, setuid or PR_SET_DUMPABLE, and look at the "
             "sandbox's profile";
    case EINVAL:
      return settings_remedy();
    case ENODEV: {
      const char* name = std::getenv("CHORALE_SOFT_FABRIC");
      return fmt::format("CHORALE_SOFT_FABRIC='{}' is no name: use 1 to 40 letters, digits, '.', '-', '_'",
                         printable(name == nullptr ? "" : name));
    }
    case EFBIG:
      return "memory that processes share counts as a file, and the limit of file size is smaller: raise it "
             "(ulimit -f unlimited, or LimitFSIZE); soft0 needs 1 GiB, of which it uses little, and each "
             "allocation its size";
    case EADDRINUSE:
      return "other processes keep the names of this fabric (chorale-soft/UID/FABRIC in /proc/net/unix): set "
             "CHORALE_SOFT_FABRIC to another name";
    case ETIMEDOUT:
      return "another process keeps the start-up lock of this fabric (chorale-soft/UID/FABRIC/lock in "
             "/proc/net/unix, .chorale-soft-UID-*.lock in the user's folder under /run, or in /tmp): is it "
             "stopped, or another user's? Continue or end it, or set CHORALE_SOFT_FABRIC to another name";
    case ENOSPC:
      return "this user may watch no more descriptors by epoll: raise /proc/sys/fs/epoll/max_user_watches; "
             "soft0 watches one for itself and two for each process that it talks to";
    case EUSERS:
      return "all 1023 places of this fabric are taken: set CHORALE_SOFT_FABRIC to another name for each job";
    case EPROTO:
      return "a process of another version of Chorale is in this fabric: set CHORALE_SOFT_FABRIC to another "
             "name";
    case ENOSYS:
      return "this kernel or sandbox has no memfd_create, epoll or pipe2, which soft0 needs: allow them";
    default:
      return "soft0 could not be set up";
  }
}

}  // namespace chorale::verbs
