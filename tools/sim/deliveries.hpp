// SPDX-License-Identifier: Apache-2.0
// The messages of a simulation, assembled from the records of their stages.
#pragma once

#include <cstdint>
#include <vector>

#include <chorale/simulation/recorder.hpp>

namespace seeing {

namespace sim = chorale::simulation;

/// A message, or an answer to one, that has arrived; for a multicast, one per receiver.
struct delivery {
  std::uint64_t number = 0;
  bool answer = false;
  int from = -1;
  int to = -1;
  std::uint16_t thread = 0;  ///< of the rank that posted it
  std::uint64_t bytes = 0;
  sim::instant posted{};   ///< for an answer: when the request had arrived
  sim::instant leaves{};   ///< its first byte
  sim::instant arrives{};  ///< its last byte
  sim::instant seen{};
};

/// Messages entirely within the window, in the order in which they were seen; includes acknowledgements.
struct delivered {
  std::vector<delivery> all;
  /// Number of further messages that are partly in the window, without acknowledgements.
  std::uint64_t over_the_edge = 0;
};

/// Precondition: no record of the window is missing.
delivered find_deliveries(const sim::recorder& notes, const sim::window& of);

/// Microseconds.
inline double us(sim::duration time) {
  return static_cast<double>(time.count()) / 1e6;
}
inline double us(sim::instant when) {
  return us(when.time_since_epoch());
}

}  // namespace seeing
