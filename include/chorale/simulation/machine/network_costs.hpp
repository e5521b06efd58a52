// What the way between two adapters costs.
#pragma once

#include <cstdint>

#include <chorale/simulation/machine/byte_cost.hpp>
#include <chorale/simulation/machine/topology.hpp>
#include <chorale/simulation/time.hpp>

namespace chorale::simulation {

/// A link, in each of its directions.
struct link_costs {
  byte_cost rate;    ///< of what goes over it, headers included
  duration delay{};  ///< from one end to the other: the cable, and the circuits at its ends
};

/// What passes through a switch.
struct switch_costs {
  duration forward{};    ///< from the first byte in to the first byte out, when nothing else goes there
  duration replicate{};  ///< by which each further copy of a multicast leaves later than the one before it
  bool whole_packets =
      false;  ///< a packet goes on when its last byte has come; else as soon as its first has
};

/// What a message is cut into.
struct packet_costs {
  std::uint32_t payload = 0;    ///< bytes of a packet at most (the MTU)
  std::uint32_t connected = 0;  ///< bytes of headers of each packet of a connection
  std::uint32_t datagram = 0;   ///< bytes of headers of a datagram
};

/// All that lies between the adapters.
struct network_costs {
  topology shape;          ///< which switches there are, and how they are joined
  link_costs host_link;    ///< between an adapter and its switch
  link_costs switch_link;  ///< between switches
  link_costs global_link;  ///< between the groups of a dragonfly
  switch_costs switches;   ///< of each switch
  packet_costs packets;    ///< of each message
};

}  // namespace chorale::simulation
