// SPDX-License-Identifier: Apache-2.0
#include "numa.hpp"

#include <charconv>
#include <filesystem>
#include <sched.h>
#include <string_view>

#include "../core/system_files.hpp"

namespace chorale::verbs {
namespace {

/// Whether the thread may run on one of the cores in a list such as "0-15,32-47".
bool may_run_on(std::string_view list) {
  cpu_set_t mine;
  // Fails if the machine has more cores than the set: then assume that the device is near.
  if (sched_getaffinity(0, sizeof mine, &mine) != 0) return true;
  const char* at = list.data();
  const char* const end = at + list.size();
  while (at < end) {
    int first = 0;
    auto [stop, status] = std::from_chars(at, end, first);
    if (status != std::errc{}) return true;
    int last = first;
    if (stop < end && *stop == '-') stop = std::from_chars(stop + 1, end, last).ptr;
    for (int cpu = first; cpu <= last && cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(static_cast<std::size_t>(cpu), &mine)) return true;
    at = stop + 1;
  }
  return false;
}

}  // namespace

bool is_elsewhere(const std::string& device, const std::string& sysfs) {
  const std::filesystem::path root{sysfs};
  const std::string node = detail::word_of_system(root / "class/infiniband" / device / "device/numa_node");
  if (node.empty() || node.front() == '-') return false;
  const std::string cores =
      detail::word_of_system(root / "devices/system/node" / ("node" + node) / "cpulist");
  return !cores.empty() && !may_run_on(cores);
}

}  // namespace chorale::verbs
