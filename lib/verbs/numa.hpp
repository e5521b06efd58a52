// SPDX-License-Identifier: Apache-2.0
// The NUMA node of a device relative to the cores of the calling thread.
#pragma once

#include <string>

namespace chorale::verbs {

/// True if the device is known to be on a different NUMA node from all cores that the calling thread may use.
[[nodiscard]] bool is_elsewhere(const std::string& device, const std::string& sysfs = "/sys");

}  // namespace chorale::verbs
