// SPDX-License-Identifier: Apache-2.0
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
struct device_choice {
  device_info device;
  std::uint8_t port = 1;
  int gid_index = 0;
  std::uint16_t pkey_index = 0;
  int mtu_bytes = 0;
  std::string why;                   ///< the reason, in one sentence
  std::vector<std::string> remarks;  ///< problems of this machine and their remedies; often empty
};

/// Applies the rules of `config`: the named device if set (of several names, the one at `local_rank` modulo
/// their count). Otherwise the best usable rdma-core device: InfiniBand, then RoCE with a routable address
/// (RoCE v2 that is not link-local), then other RoCE; among these the fastest port. The first such device
/// determines the fabric, as far as addresses tell. Of the equally fast devices on that fabric, those on the
/// NUMA node to which the calling thread is bound are preferred, and local ranks take turns among these. RoCE
/// devices without a routable address take no part in such turns. A device is skipped with a remark if it
/// lacks a feature that transports need, if its port is not active, or if it does not match the settings. If
/// none is left, the software device is chosen. Port number, GID index, partition key and MTU are checked
/// against the device.
/// @throws error errc::no_device, errc::unsupported or errc::invalid_argument, naming the setting, what the
/// device offers and the remedy; a system error if a named device cannot be opened.
device_choice choose(const config& settings, std::span<const driver* const> from = drivers(),
                     int local_rank = 0);

}  // namespace chorale::verbs
