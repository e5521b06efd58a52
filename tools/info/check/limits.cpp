// SPDX-License-Identifier: Apache-2.0
// Limits of the system that ranks run into.
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include <chorale/core/config.hpp>
#include <chorale/model/resources.hpp>

#include "../../../lib/core/system_files.hpp"
#include "../../../lib/verbs/diagnosis.hpp"
#include "checks.hpp"

namespace info::check {
namespace {

namespace verbs = chorale::verbs;

constexpr std::uint64_t soft_bytes = std::uint64_t{1} << 30;  // shared by soft0, as a file
/// File descriptors of a process with one communicator on soft0, and of a launcher's client.
constexpr std::int64_t descriptors_of_process = 24;
constexpr std::int64_t descriptors_of_peer = 3;
constexpr std::int64_t places_of_fabric = 1023;
constexpr std::int64_t usual_ranks = 64;

bool is_soft(const report& r) {
  return r.choice && r.choice->device.name == "soft0";
}

std::uint64_t limit_of(__rlimit_resource_t which) {
  rlimit limit{};
  return getrlimit(which, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

finding locked_memory(const report& r) {
  const auto limit = verbs::memlock_limit();
  const bool exempt = verbs::memlock_exempt();
  const std::string subject = "locked memory";
  const std::string amount = limit == UINT64_MAX ? "without a limit" : fmt::format("{} bytes", limit);
  if (!verbs::memlock_remark(limit, exempt))
    return ok(subject, exempt && limit != UINT64_MAX
                           ? fmt::format("{} (RLIMIT_MEMLOCK), which does not bind this process", amount)
                           : fmt::format("{} (RLIMIT_MEMLOCK)", amount));
  const std::string remedy =
      "`ulimit -l unlimited` where the ranks are started: '* - memlock unlimited' in "
      "/etc/security/limits.conf, LimitMEMLOCK=infinity of slurmd, docker run --ulimit memlock=-1";
  if (is_soft(r))
    return note(subject,
                fmt::format("{} (RLIMIT_MEMLOCK): enough for soft0, too little for an adapter", amount),
                remedy);
  return wrong(subject,
               fmt::format("{} (RLIMIT_MEMLOCK): too little to register memory for many peers", amount),
               remedy);
}

/// File descriptors of a rank that communicates with all others of its host.
std::int64_t descriptors(std::int64_t ranks) {
  return descriptors_of_process + descriptors_of_peer * (ranks - 1) +
         chorale::model::resources_of_rc(ranks, ranks - 1, {}).descriptors;
}

std::int64_t ranks_within(std::int64_t files) {
  std::int64_t ranks = 0;
  while (ranks < places_of_fabric && descriptors(ranks + 1) <= files) ++ranks;
  return ranks;
}

finding open_files() {
  const auto limit = limit_of(RLIMIT_NOFILE);
  const auto files = static_cast<std::int64_t>(std::min<std::uint64_t>(limit, 1 << 20));
  const std::int64_t possible = ranks_within(files);
  const std::string says = fmt::format("{} may be open (RLIMIT_NOFILE)", files);
  const std::string remedy = "`ulimit -n 4096`, or '* - nofile 4096' in /etc/security/limits.conf";
  if (possible < 2) return wrong("open files", says + ": too few for two ranks", remedy);
  if (possible < usual_ranks)
    return note("open files", fmt::format("{}: enough for {} ranks a host", says, possible), remedy);
  return ok("open files", says);
}

finding file_size(const report& r) {
  const auto limit = limit_of(RLIMIT_FSIZE);
  const std::string says =
      limit == UINT64_MAX ? "without a limit" : fmt::format("{} bytes (RLIMIT_FSIZE)", limit);
  if (limit >= soft_bytes) return ok("size of files", says);
  const std::string why = says + ": soft0 shares 1 GiB of memory, which counts as a file";
  const std::string remedy = "`ulimit -f unlimited`, or LimitFSIZE=infinity of the service";
  return is_soft(r) || !r.choice ? wrong("size of files", why, remedy) : note("size of files", why, remedy);
}

finding shared_memory() {
  // soft0 does not need it, but the launcher's MPI programs and some PMIx servers do.
  constexpr const char* folder = "/dev/shm";
  constexpr std::uint64_t enough = std::uint64_t{64} << 20;
  constexpr const char* whom = "Chorale does not need it, some launchers and MPIs do";
  struct statvfs room {};
  if (statvfs(folder, &room) != 0)
    return note(folder, fmt::format("is not there ({}): {}", std::strerror(errno), whom),
                "`mount -t tmpfs tmpfs /dev/shm`");
  if (access(folder, W_OK) != 0)
    return note(folder, fmt::format("cannot be written ({}): {}", std::strerror(errno), whom),
                "`mount -o remount,rw /dev/shm`, and `chmod 1777 /dev/shm`");
  const auto free = static_cast<std::uint64_t>(room.f_bavail) * room.f_frsize;
  if (free < enough)
    return note(folder, fmt::format("has {} KiB free: {}", free >> 10, whom),
                "remove what ended programs have left there, `mount -o remount,size=8G /dev/shm`, or docker "
                "run --shm-size=8g");
  return ok(folder, fmt::format("{} MiB are free", free >> 20));
}

/// 0, or the errno with which another process of this user fails to read this process's memory.
int try_copying() {
  static volatile int here = 0x5eed;
  const pid_t parent = getpid();
  const bool shown = prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0) == 0;  // for Yama, as soft0 does
  const pid_t child = fork();
  if (child < 0) return errno;
  if (child == 0) {
    int there = 0;
    iovec to{&there, sizeof there};
    iovec from{const_cast<int*>(&here), sizeof here};
    const auto bytes = process_vm_readv(parent, &to, 1, &from, 1, 0);
    _exit(bytes == static_cast<ssize_t>(sizeof there) && there == 0x5eed ? 0 : bytes < 0 ? errno : EIO);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (shown) prctl(PR_SET_PTRACER, 0, 0, 0, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

finding copies(const report& r) {
  const std::string scope = chorale::detail::word_of_system("/proc/sys/kernel/yama/ptrace_scope");
  const std::string yama = scope.empty() ? "" : fmt::format(" (kernel.yama.ptrace_scope is {})", scope);
  const int failure = try_copying();
  if (failure == 0)
    return ok("zero copy", fmt::format("processes may copy from each other by process_vm_readv{}", yama));
  return note("zero copy",
              fmt::format("process_vm_readv is refused ({}){}: soft0 copies through buffers, slower{}",
                          std::strerror(failure), yama, is_soft(r) ? "" : "; adapters do not need it"),
              scope == "3" || scope == "2"
                  ? "`sysctl kernel.yama.ptrace_scope=1`"
                  : "docker run --cap-add SYS_PTRACE or --security-opt seccomp=unconfined, or allow the call "
                    "in the sandbox's profile");
}

finding processes_seen() {
  char link[32]{};
  const bool mounted = readlink("/proc/self", link, sizeof link - 1) > 0 && std::atoi(link) == getpid();
  if (!mounted)
    return wrong("/proc", "does not show this process, by which ranks of a host find each other",
                 "`mount -t proc proc /proc`");
  std::string spaces;
  for (const char* kind : {"pid", "net", "user"}) {
    struct stat space {};
    if (stat(fmt::format("/proc/self/ns/{}", kind).c_str(), &space) == 0)
      spaces += fmt::format("{}{} {}", spaces.empty() ? "" : ", ", kind, space.st_ino);
  }
  return ok("namespaces", fmt::format("{}: ranks of a host must have the same on soft0", spaces));
}

finding ranks(const report& r) {
  cpu_set_t cores;
  const int usable = sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
  const auto files =
      static_cast<std::int64_t>(std::min<std::uint64_t>(limit_of(RLIMIT_NOFILE), std::uint64_t{1} << 20));
  std::int64_t most = ranks_within(files);
  std::string by = most >= places_of_fabric ? "the places of soft0" : "open files (`ulimit -n`)";
  const char* where = "on this host";
  if (r.choice && !is_soft(r)) {
    // For transport::rc with all-to-all communication: a queue pair per peer, from the limit that all ranks
    // on the device share.
    for (const auto& d : r.devices)
      for (const auto& l : d.limits)
        if (d.name == r.choice->device.name && l.name == "max_qp") {
          const auto pairs = static_cast<std::int64_t>(std::min<std::uint64_t>(l.value, 1ULL << 40));
          most = std::max<std::int64_t>(pairs / std::max(usable, 1) - 1, 0);
          by = fmt::format("the adapter's queue pairs, with {} ranks a host", usable);
          where = "in a job over rc";
        }
  }
  const auto limit = limit_of(RLIMIT_NPROC);
  // A rank is a process with two threads of the library, and some of the launcher.
  if (limit != UINT64_MAX && static_cast<std::int64_t>(limit / 8) < most) {
    most = static_cast<std::int64_t>(limit / 8);
    by = "processes (`ulimit -u`)";
  }
  const std::string says =
      fmt::format("up to {} {}, limited by {}; {} can have a core of their own", most, where, by, usable);
  if (most < 2) return wrong("ranks", says, "raise the limits that are named above");
  return ok("ranks", says);
}

}  // namespace

findings of_limits(const report& r) {
  return {locked_memory(r), open_files(),     file_size(r), shared_memory(),
          copies(r),        processes_seen(), ranks(r)};
}

}  // namespace info::check
