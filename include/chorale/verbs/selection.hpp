// Selects the device, port, GID and MTU of a communicator.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <chorale/core/config.hpp>
#include <chorale/verbs/device.hpp>

namespace chorale::verbs {

/// The selection, checked against the device.
struct choice {
  device_info device;
  std::uint8_t port = 1;
  int gid_index = 0;
  int mtu_bytes = 0;
  std::string why;                   ///< the reason, in one sentence
  std::vector<std::string> remarks;  ///< problems of this machine and their remedies; often empty
};

/// Applies the rules of `config`: the named device if set (of several names, the one at `local_rank` modulo
/// their count); otherwise the first rdma-core device whose port is active; otherwise the software device. On
/// RoCE the default GID index is the first RoCE v2 entry with an IPv4 address. Port number, GID index,
/// partition key index and MTU are checked against the device.
/// @throws error errc::no_device or errc::invalid_argument, naming the setting, what the device offers and
/// the remedy; a system error if a named device cannot be opened.
choice choose(const config& settings, std::span<const driver* const> from = drivers(), int local_rank = 0);

}  // namespace chorale::verbs
