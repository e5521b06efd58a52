// SPDX-License-Identifier: Apache-2.0
// The costs between the cores of a host: a software device, and the memory that its cores share.
#pragma once

#include <cstdint>

#include <chorale/simulation/machine/byte_cost.hpp>
#include <chorale/simulation/time.hpp>

namespace chorale::simulation {

/// Messages between two ranks of a host that do not use its adapter: the core that posts a request copies the
/// payload into the other rank's memory, and the other core gets it from the first one's cache.
struct near_costs {
  duration post{};  ///< each request, besides the copy of its payload
  duration line{};  ///< until a core that polls a cache line sees what another core has written there
  byte_cost byte;   ///< of bytes that another core's cache holds: the least that a copy of them takes
  /// Copies of at least this many bytes also take the time of the memory, which all cores of a host share.
  std::uint64_t uncached = 0;
  byte_cost memory;  ///< of these copies, by all cores together
};

}  // namespace chorale::simulation
