// SPDX-License-Identifier: Apache-2.0
// Which links a message takes, computed rather than tabulated, so that a host costs no memory.
#pragma once

#include <variant>

#include "dragonfly_routes.hpp"
#include "fat_tree_routes.hpp"
#include "one_switch_routes.hpp"
#include "torus_routes.hpp"

namespace chorale::simulation {

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
