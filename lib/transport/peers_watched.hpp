// What a rank knows of its peers in order to look whether they are alive.
#pragma once

#include <cstddef>
#include <vector>

#include "../core/process.hpp"

namespace chorale::transport {

struct peers_watched {
  std::vector<process_identity> processes;  ///< of ranks on this host; others are not visible
  std::vector<int> neighbours;     ///< ranks whose processes are visible, those behind this one first
  std::vector<bool> served;        ///< ranks with a service thread
  std::size_t next_neighbour = 0;  ///< whose process is looked at next
  int next_asked = 0;              ///< who is asked next, though nobody waits for it
};

}  // namespace chorale::transport
