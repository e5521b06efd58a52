// SPDX-License-Identifier: Apache-2.0
// The routes in a dragonfly.
#pragma once

#include <cstdint>
#include <string>

#include <chorale/simulation/machine/network_costs.hpp>

#include "link.hpp"

namespace chorale::simulation {

/// Minimal routing: within the group to a switch that has a link to the other group, over that link, and
/// there to the destination. If several links lead to that group, the one with the shortest route is taken.
class dragonfly_routes {
 public:
  explicit dragonfly_routes(const dragonfly& shape);

  [[nodiscard]] std::uint32_t hosts() const noexcept { return groups_ * switches_ * hosts_; }
  [[nodiscard]] std::uint32_t links() const noexcept {
    return first_global_ + groups_ * switches_ * globals_;
  }
  void append(host_number from, host_number to, std::uint32_t spread, route& links) const;
  [[nodiscard]] link_ends ends(link_number link) const;
  [[nodiscard]] link_kind kind(link_number link) const noexcept {
    if (link < first_local_) return link_kind::host;
    return link < first_global_ ? link_kind::between_switches : link_kind::between_groups;
  }
  [[nodiscard]] std::string name(std::uint32_t number) const;

 private:
  // The global links of a group are its ports, `globals_` at each switch. Port (copy, distance) is the
  // `copy`-th link to the group that is `distance` further.
  [[nodiscard]] std::uint32_t port(std::uint32_t copy, std::uint32_t distance) const noexcept {
    return copy * (groups_ - 1) + distance - 1;
  }
  void append_local(std::uint32_t group, std::uint32_t from, std::uint32_t to, route& links) const;

  std::uint32_t groups_;
  std::uint32_t switches_;
  std::uint32_t hosts_;
  std::uint32_t globals_;
  std::uint32_t copies_ = 0;
  link_number first_local_;
  link_number first_global_;
};

}  // namespace chorale::simulation
