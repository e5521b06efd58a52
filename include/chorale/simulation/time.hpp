// SPDX-License-Identifier: Apache-2.0
// Virtual time, in picoseconds since a simulation began.
#pragma once

#include <chrono>
#include <cstdint>
#include <ratio>

namespace chorale::simulation {

/// The time of one simulation, which begins at zero; instants are points of it.
struct timeline {
  using rep = std::int64_t;                                        ///< picoseconds
  using period = std::pico;                                        ///< as in clocks of the standard library
  using duration = std::chrono::duration<rep, period>;             ///< a length of virtual time
  using time_point = std::chrono::time_point<timeline, duration>;  ///< a point of it
  static constexpr bool is_steady = true;                          ///< it never goes back
};

/// A length of virtual time: a whole number of picoseconds, so that sums are the same on every machine; at
/// most 106 days. The units of `<chrono>` convert to it.
using duration = timeline::duration;

/// A point of virtual time.
using instant = timeline::time_point;

}  // namespace chorale::simulation
