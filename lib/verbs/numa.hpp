// Where a device is, beside the cores of the calling thread.
#pragma once

#include <string>

namespace chorale::verbs {

/// True if the device is known to be at another NUMA node than all cores that the calling thread may use.
[[nodiscard]] bool is_elsewhere(const std::string& device, const std::string& sysfs = "/sys");

}  // namespace chorale::verbs
