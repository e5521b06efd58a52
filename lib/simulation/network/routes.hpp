// Which links a message takes, by arithmetic: no tables, so that a host costs no memory.
#pragma once

#include <variant>

#include "dragonfly_routes.hpp"
#include "fat_tree_routes.hpp"
#include "one_switch_routes.hpp"
#include "torus_routes.hpp"

namespace chorale::simulation {

// Each of these classes has
//   hosts()                          how many hosts it has room for,
//   links()                          how many links, some of which may never be used,
//   append(from, to, spread, links)  puts the links from a host to another behind `links`; where several ways
//                                    are as short, `spread` chooses. A multicast takes the links of
//                                    all ways of one spread from its sender, each once,
//   ends(link)                       what it joins,
//   kind(link)                       which costs it has,
//   name(switch)                     for reports.
using routes = std::variant<one_switch_routes, fat_tree_routes, torus_routes, dragonfly_routes>;

/// Those of a shape; `shape` has been validated.
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
