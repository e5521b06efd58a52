// SPDX-License-Identifier: Apache-2.0
// The network between adapters: its topology and its costs.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include <chorale/simulation/machine/byte_cost.hpp>
#include <chorale/simulation/time.hpp>

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

/// A link, in each of its directions.
struct link_costs {
  byte_cost rate;    ///< of all bytes, headers included
  duration delay{};  ///< from one end to the other: the cable, and the circuits at its ends
};

/// The costs of a switch.
struct switch_costs {
  duration forward{};    ///< from the first byte in to the first byte out, on an idle link
  duration replicate{};  ///< by which each further copy of a multicast leaves after the previous one
  bool whole_packets =
      false;  ///< store and forward; else a packet is forwarded as soon as its first byte arrives
};

/// How a message is divided into packets.
struct packet_costs {
  std::uint32_t payload = 0;    ///< of a packet at most, in bytes (the MTU)
  std::uint32_t connected = 0;  ///< bytes of headers of each packet of a connection
  std::uint32_t datagram = 0;   ///< bytes of headers of a datagram
};

/// Everything between the adapters.
struct network_costs {
  topology shape;          ///< the switches, and how they are joined
  link_costs host_link;    ///< between an adapter and its switch
  link_costs switch_link;  ///< between switches
  link_costs global_link;  ///< between the groups of a dragonfly
  switch_costs switches;   ///< of each switch
  packet_costs packets;    ///< of all messages
};

}  // namespace chorale::simulation
