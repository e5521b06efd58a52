// SPDX-License-Identifier: Apache-2.0
// The device ports of a rank in a group.
#pragma once

#include <vector>

#include <chorale/transport/wire/device_port.hpp>

namespace chorale::transport {

/// The device ports that a rank uses in a group. Moving it does not move them.
struct rank_ports {
  std::vector<device_port> all;  ///< one or more, each to all ranks; the first carries datagrams
  /// One to the other ranks of this rank's place if they do not use the first of `all`; otherwise none.
  std::vector<device_port> near;
  /// Whether some ranks of the group have one. The same on all ranks.
  bool some_have_near = false;

  /// The port in `near`, or null.
  [[nodiscard]] const device_port* to_place() const noexcept { return near.empty() ? nullptr : near.data(); }
};

}  // namespace chorale::transport
