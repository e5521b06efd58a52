// SPDX-License-Identifier: Apache-2.0
#include "host.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chorale/core/error.hpp>
#include <chorale/core/system_services.hpp>

#include "../../core/system_files.hpp"

namespace chorale::transport {
namespace {

host_identity named_host() noexcept {
  host_identity h{};
  if (const system_services* const instead = system_services::replaced()) {
    instead->host().name.copy(h.name, sizeof h.name - 1);
    return h;
  }
  if (gethostname(h.name, sizeof h.name - 1) != 0) std::strcpy(h.name, "unknown");
  return h;
}

/// Whether this thread may inspect all processes of its user namespace (CAP_SYS_PTRACE).
bool may_trace() noexcept {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct rights[_LINUX_CAPABILITY_U32S_3]{};
  return syscall(SYS_capget, &header, rights) == 0 && (rights[0].effective >> CAP_SYS_PTRACE & 1U) != 0;
}

}  // namespace

void cpu_mask::merge(const cpu_mask& other) noexcept {
  for (std::size_t i = 0; i < words.size(); ++i) words[i] |= other.words[i];
}

int cpu_mask::count() const noexcept {
  int n = 0;
  for (const auto w : words) n += std::popcount(w);
  return n;
}

std::string this_host_name() {
  return named_host().text();
}

host_identity this_host() {
  host_identity h = named_host();
  if (system_services::replaced() != nullptr) return h;
  errno = 0;
  const std::string id = detail::word_of_system("/proc/sys/kernel/random/boot_id");
  if (!id.empty())
    id.copy(h.boot, sizeof h.boot - 1);
  else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
    // Without the boot id this host would be mistaken for another one.
    throw_errno(errno, "open", "/proc/sys/kernel/random/boot_id",
                "no file descriptors are left: raise the limit of open files (ulimit -n)");
  return h;
}

user_identity this_user() noexcept {
  struct stat s {};
  const bool known = stat("/proc/self/ns/user", &s) == 0;
  return {geteuid(), getegid(), known ? static_cast<std::uint32_t>(s.st_ino) : 0,
          prctl(PR_GET_DUMPABLE) != 1 && !may_trace() ? 1U : 0U};
}

cpu_mask this_process_cpus() {
  cpu_mask mask{};
  if (const system_services* const instead = system_services::replaced()) {
    const auto cores = std::min(static_cast<std::size_t>(instead->host().cores), mask.words.size() * 64);
    for (std::size_t cpu = 0; cpu < cores; ++cpu) mask.words[cpu / 64] |= std::uint64_t{1} << (cpu % 64);
    return mask;
  }
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) {
    mask.words.fill(~std::uint64_t{0});
    return mask;
  }
  for (std::size_t cpu = 0; cpu < mask.words.size() * 64; ++cpu) {
    if (CPU_ISSET(cpu, &set)) mask.words[cpu / 64] |= std::uint64_t{1} << (cpu % 64);
  }
  return mask;
}

}  // namespace chorale::transport
