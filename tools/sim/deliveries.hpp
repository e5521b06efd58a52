// The messages of a simulation, put together from the notes on their stages.
#pragma once

#include <cstdint>
#include <vector>

#include <chorale/simulation/recorder.hpp>

namespace seeing {

namespace sim = chorale::simulation;

/// A message, or an answer to one, that has come; of a multicast, one for each who got it.
struct delivery {
  std::uint64_t number = 0;
  bool answer = false;
  int from = -1;
  int to = -1;
  std::uint16_t thread = 0;  ///< of the rank that posted it
  std::uint64_t bytes = 0;
  sim::instant posted{};   ///< of an answer: when the request was there
  sim::instant leaves{};   ///< its first byte
  sim::instant arrives{};  ///< its last byte
  sim::instant seen{};
};

/// Those of which all is in the window, in the order in which they were seen; acknowledgements among them.
struct delivered {
  std::vector<delivery> all;
  /// How many there are besides of which a part is in the window, acknowledgements not counted.
  std::uint64_t over_the_edge = 0;
};

/// No record of the window may be missing.
delivered find_deliveries(const sim::recorder& notes, const sim::window& of);

/// Microseconds.
inline double us(sim::duration time) {
  return static_cast<double>(time.count()) / 1e6;
}
inline double us(sim::instant when) {
  return us(when.time_since_epoch());
}

}  // namespace seeing
