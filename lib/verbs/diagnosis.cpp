// SPDX-License-Identifier: Apache-2.0
#include "diagnosis.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <sstream>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "../core/streams_reserved.hpp"
#include "../core/system_files.hpp"

namespace chorale::verbs {
namespace {

constexpr std::uint64_t enough_locked = 64ULL << 20;
constexpr const char* raise_memlock =
    "raise it (ulimit -l unlimited; 'memlock unlimited' in /etc/security/limits.conf; LimitMEMLOCK=infinity "
    "for a service such as slurmd; docker run --ulimit memlock=-1)";

std::string in_bytes(std::uint64_t limit) {
  return limit == UINT64_MAX ? std::string{"unlimited"} : fmt::format("{} bytes", limit);
}

/// Character device ("uverbs0") of a device of the kernel; empty if it has none.
std::string verbs_node(const std::filesystem::path& sysfs, const std::string& device) {
  std::error_code ignored;
  for (const auto& node : detail::above_streams(
           [&] { return std::filesystem::directory_iterator(sysfs / "infiniband_verbs", ignored); })) {
    if (detail::word_of_system(node.path() / "ibdev") == device) return node.path().filename();
  }
  return {};
}

}  // namespace

std::uint64_t memlock_limit() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  return limit.rlim_cur;
}

bool memlock_exempt() {
  constexpr unsigned cap_ipc_lock = 14;
  std::istringstream status{detail::text_of_system("/proc/self/status")};
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("CapEff:"))
      return (std::strtoull(line.c_str() + 7, nullptr, 16) >> cap_ipc_lock & 1U) != 0;
  return geteuid() == 0;
}

std::string memlock_remedy() {
  return fmt::format("RLIMIT_MEMLOCK is {}; {}", in_bytes(memlock_limit()), raise_memlock);
}

std::optional<std::string> memlock_remark(std::uint64_t limit, bool exempt) {
  if (exempt || limit >= enough_locked) return std::nullopt;
  return fmt::format("RLIMIT_MEMLOCK of {} is too low to register memory for many peers; {}", in_bytes(limit),
                     raise_memlock);
}

std::vector<std::string> hidden_device_remarks(const std::vector<device_info>& visible,
                                               const std::string& sysfs, const std::string& nodes) {
  std::vector<std::string> remarks;
  std::error_code ignored;
  for (const auto& entry : detail::above_streams(
           [&] { return std::filesystem::directory_iterator(sysfs + "/infiniband", ignored); })) {
    const std::string name = entry.path().filename();
    if (std::any_of(visible.begin(), visible.end(), [&](const device_info& d) { return d.name == name; }))
      continue;
    const std::string node = verbs_node(sysfs, name);
    const std::string path = nodes + '/' + (node.empty() ? "uverbs*" : node);
    std::error_code failure;
    if (node.empty())
      remarks.push_back(
          fmt::format("the kernel has device {} but offers no verbs for it: load its module ib_uverbs "
                      "(modprobe ib_uverbs)",
                      name));
    else if (!std::filesystem::exists(path, failure))
      remarks.push_back(fmt::format(
          "the kernel has device {} but {} is not there: in a container pass --device=/dev/infiniband", name,
          path));
    else if (access(path.c_str(), R_OK | W_OK) != 0)
      remarks.push_back(fmt::format(
          "the kernel has device {} but this user may not open {}: add it to the group that owns the file",
          name, path));
    else
      remarks.push_back(fmt::format(
          "the kernel has device {} but libibverbs has no driver for it: install the provider (package "
          "ibverbs-providers or rdma-core)",
          name));
  }
  std::sort(remarks.begin(), remarks.end());
  return remarks;
}

}  // namespace chorale::verbs
