// SPDX-License-Identifier: Apache-2.0
// The costs of the network between adapters.
#pragma once

#include <cstdint>

#include <chorale/simulation/machine/byte_cost.hpp>
#include <chorale/simulation/machine/topology.hpp>
#include <chorale/simulation/time.hpp>

namespace chorale::simulation {

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
