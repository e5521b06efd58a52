// SPDX-License-Identifier: Apache-2.0
// The load of a link of a simulated network.
#pragma once

#include <cstdint>
#include <string>

#include <chorale/simulation/time.hpp>

namespace chorale::simulation {

/// The load of one direction of a link.
struct link_load {
  std::string name;            ///< "host 3 to switch 0 of level 1"
  std::uint64_t bytes = 0;     ///< with headers
  std::uint64_t messages = 0;  ///< with acknowledgements and answers
  duration taken{};            ///< how long it was busy
};

}  // namespace chorale::simulation
