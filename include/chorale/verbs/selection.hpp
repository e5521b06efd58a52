// Which device, port, GID and MTU a communicator uses.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <chorale/core/config.hpp>
#include <chorale/verbs/device.hpp>

namespace chorale::verbs {

/// The outcome, checked against the device.
struct choice {
  device_info device;
  std::uint8_t port = 1;
  int gid_index = 0;
  int mtu_bytes = 0;
  std::string why;                   ///< one sentence
  std::vector<std::string> remarks;  ///< what is wrong on this machine and how to mend it; often empty
};

/// Applies the rules of `config`: the device by name if set (of several names, that of number `local_rank`
/// modulo their count); else the first device of rdma-core with the port active; else the software device. On
/// RoCE the GID index defaults to the first RoCE v2 row with an IPv4 address. Port number, GID index,
/// partition key index and MTU are checked against the device.
/// @throws error errc::no_device or errc::invalid_argument, naming the setting, what the device has and
/// the remedy; a system error if a device asked for by name cannot be opened.
choice choose(const config& settings, std::span<const driver* const> from = drivers(), int local_rank = 0);

}  // namespace chorale::verbs
