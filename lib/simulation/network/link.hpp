// SPDX-License-Identifier: Apache-2.0
// The links of a network by number, and the ends of each.
#pragma once

#include <cstdint>
#include <vector>

namespace chorale::simulation {

/// A host, from 0.
using host_number = std::uint32_t;

/// One direction of a cable, from 0. The links of hosts come first: host h sends on 2h and receives on 2h +
/// 1.
using link_number = std::uint32_t;

[[nodiscard]] constexpr link_number out_of(host_number host) noexcept {
  return 2 * host;
}
[[nodiscard]] constexpr link_number into(host_number host) noexcept {
  return 2 * host + 1;
}

enum class link_kind : std::uint8_t { host, between_switches, between_groups };

/// An end of a link.
struct vertex {
  bool is_host = false;
  std::uint32_t number = 0;  ///< of the host, or of the switch among all switches

  friend constexpr bool operator==(const vertex&, const vertex&) noexcept = default;
};

struct link_ends {
  vertex from;
  vertex to;
};

/// The links from one host to another, in order.
using route = std::vector<link_number>;

}  // namespace chorale::simulation
