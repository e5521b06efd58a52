// SPDX-License-Identifier: Apache-2.0
// The topologies that machine files can name.
#pragma once

#include <variant>
#include <vector>

namespace chorale::simulation {

/// All hosts at one switch.
struct one_switch {
  int ports = 0;  ///< hosts that it has room for
};

/// Switches in levels, with several roots: an extended generalised fat tree (Oehring, Ibel, Das and Kumar:
/// On generalized fat trees, IPPS 1995).
struct fat_tree {
  /// The number of children of a switch of each level, from the leaves up: hosts, or switches of the level
  /// below.
  std::vector<int> down;
  /// The number of parents of a switch of each level but the highest, with one link to each. A level's taper
  /// is `down` over `up`.
  std::vector<int> up;
};

/// Switches in a grid with the dimensions `extent`, each joined to its two neighbours along each dimension,
/// and the last to the first.
struct torus {
  std::vector<int> extent;  ///< switches along each dimension
  int hosts = 1;            ///< at each switch
};

/// Groups of switches, each joined to all others of its group, with links to other groups (Kim, Dally, Scott
/// and Abts: Technology-driven, highly-scalable dragonfly topology, ISCA 2008). All pairs of groups have
/// equally many links; the remaining links are not used.
struct dragonfly {
  int groups = 0;    ///< how many
  int switches = 0;  ///< of a group
  int hosts = 0;     ///< at each switch
  int globals = 0;   ///< links of each switch to other groups
};

using topology = std::variant<one_switch, fat_tree, torus, dragonfly>;  ///< How switches are joined.

}  // namespace chorale::simulation
