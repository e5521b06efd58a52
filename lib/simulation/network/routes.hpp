// SPDX-License-Identifier: Apache-2.0
// Which links a message takes, computed rather than tabulated, so that a host costs no memory.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include <chorale/simulation/machine/network_costs.hpp>

#include "dragonfly_routes.hpp"
#include "fat_tree_routes.hpp"
#include "link.hpp"
#include "torus_routes.hpp"

namespace chorale::simulation {

class one_switch_routes {
 public:
  explicit one_switch_routes(const one_switch& shape) : ports_(static_cast<std::uint32_t>(shape.ports)) {}

  [[nodiscard]] std::uint32_t hosts() const noexcept { return ports_; }
  [[nodiscard]] std::uint32_t links() const noexcept { return 2 * ports_; }
  void append(host_number from, host_number to, std::uint32_t, route& links) const {
    links.push_back(out_of(from));
    links.push_back(into(to));
  }
  [[nodiscard]] link_ends ends(link_number link) const {
    const vertex host{true, link / 2};
    return link % 2 == 0 ? link_ends{host, {}} : link_ends{{}, host};
  }
  [[nodiscard]] link_kind kind(link_number) const noexcept { return link_kind::host; }
  [[nodiscard]] std::string name(std::uint32_t) const { return "the switch"; }

 private:
  std::uint32_t ports_;
};

// Each of these classes has
//   hosts()                          how many hosts it has room for,
//   links()                          how many links it has; some may never be used,
//   append(from, to, spread, links)  appends the links from one host to another to `links`; `spread` selects
//                                    among equally short routes. A multicast takes the links of all
//                                    routes of one spread from its sender, each once,
//   ends(link)                       the two ends of a link,
//   kind(link)                       which costs a link has,
//   name(switch)                     a switch's name in reports.
using routes = std::variant<one_switch_routes, fat_tree_routes, torus_routes, dragonfly_routes>;

/// The routes of a topology; `shape` has been validated.
[[nodiscard]] inline routes routes_of(const topology& shape) {
  struct maker {
    routes operator()(const one_switch& s) const { return one_switch_routes{s}; }
    routes operator()(const fat_tree& s) const { return fat_tree_routes{s}; }
    routes operator()(const torus& s) const { return torus_routes{s}; }
    routes operator()(const dragonfly& s) const { return dragonfly_routes{s}; }
  };
  return std::visit(maker{}, shape);
}

}  // namespace chorale::simulation
