// SPDX-License-Identifier: Apache-2.0
// The routes in a fat tree.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <chorale/simulation/machine/network_costs.hpp>

#include "link.hpp"

namespace chorale::simulation {

/// Up to the lowest switches above both hosts, then down. The destination determines which of these switches
/// is used (Zahavi: D-Mod-K routing, 2010), so that the hosts of a leaf use all its links evenly.
class fat_tree_routes {
 public:
  explicit fat_tree_routes(const fat_tree& shape);

  [[nodiscard]] std::uint32_t hosts() const noexcept { return levels_.back().span; }
  [[nodiscard]] std::uint32_t links() const noexcept { return links_; }
  void append(host_number from, host_number to, std::uint32_t spread, route& links) const;
  [[nodiscard]] link_ends ends(link_number link) const;
  [[nodiscard]] link_kind kind(link_number link) const noexcept {
    return link < 2 * hosts() ? link_kind::host : link_kind::between_switches;
  }
  [[nodiscard]] std::string name(std::uint32_t number) const;

 private:
  // A switch of a level is identified by its subtree of hosts, and by its lane among the switches above the
  // same hosts.
  struct level {
    std::uint32_t down;   // children of a switch
    std::uint32_t up;     // parents; 0 at the top
    std::uint32_t span;   // hosts below a switch
    std::uint32_t lanes;  // switches above the same hosts
    std::uint32_t first_switch;
    link_number first_link;  // the first link to the level above; links come in pairs: up and down
  };

  [[nodiscard]] link_number upward(std::uint32_t at, std::uint32_t subtree, std::uint32_t lane,
                                   std::uint32_t parent) const noexcept {
    const auto& here = levels_[at];
    return here.first_link + 2 * ((subtree * here.lanes + lane) * here.up + parent);
  }

  std::vector<level> levels_;
  std::uint32_t links_ = 0;
};

}  // namespace chorale::simulation
