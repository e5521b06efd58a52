// SPDX-License-Identifier: Apache-2.0
// Problems of this machine that keep real RDMA devices from working, and their remedies.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <chorale/verbs/device.hpp>

namespace chorale::verbs {

/// Soft RLIMIT_MEMLOCK of this process in bytes; UINT64_MAX if there is no limit.
std::uint64_t memlock_limit() noexcept;

/// True if the limit does not bind this process (CAP_IPC_LOCK).
bool memlock_exempt();

/// "RLIMIT_MEMLOCK is 65536 bytes: raise it with ...", for a registration that could not pin its memory.
std::string memlock_remedy();

/// A remark if `limit` bytes of locked memory are too few for the mailboxes of a job of some size (64 MiB).
std::optional<std::string> memlock_remark(std::uint64_t limit, bool exempt);

/// One remark for each device the kernel lists in `sysfs`/infiniband that is not among `visible`: its node
/// below `nodes` is missing or not accessible, or its user-space driver is not installed.
std::vector<std::string> hidden_device_remarks(const std::vector<device_info>& visible,
                                               const std::string& sysfs = "/sys/class",
                                               const std::string& nodes = "/dev/infiniband");

}  // namespace chorale::verbs
