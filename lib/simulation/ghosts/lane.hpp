// SPDX-License-Identifier: Apache-2.0
// What one rank has sent to another, and what has arrived.
#pragma once

#include <cstddef>
#include <cstdint>

#include <chorale/simulation/time.hpp>

#include "flight.hpp"

namespace chorale::simulation::ghosts {

/// The state of one direction between two ranks, as both ranks know it. Counts start at 0 with the run.
struct lane {
  instant departed;                ///< when the last message left; the next leaves no earlier
  instant placed;                  ///< when the last message was in memory; the next does not overtake it
  flight_list behind;              ///< messages that wait behind a long one that is still leaving
  flight_list messages;            ///< arrived and not yet released
  const flight* unseen = nullptr;  ///< the first of `messages` that was not received; null: none
  std::uint64_t signal = 0;        ///< the last signalled call and phase
  std::uint32_t sent = 0;          ///< messages sent
  std::uint32_t freed = 0;         ///< messages that the receiver has released
  std::uint32_t acknowledged = 0;  ///< those of `freed` that the receiver has reported to the sender
  std::uint32_t known = 0;         ///< those of `freed` that the sender knows of
  std::uint32_t notices = 0;       ///< arrived, and not yet waited for
  std::uint32_t requests = 0;      ///< puts and gets begun
  std::uint32_t completions = 0;   ///< of `requests`, those that have completed
  std::uint32_t completed = 0;     ///< of `completions`, those that the sender has polled
  bool is_leaving = false;         ///< a long message is leaving, and later ones wait in `behind`
};

/// Both directions between two ranks, and their queue pairs.
struct connection {
  lane upwards;  ///< from the lower rank to the higher
  lane downwards;
  std::uint32_t low = 0;  ///< the lower rank
  std::uint32_t high = 0;
  std::uint32_t low_queue_pair = 0;
  std::uint32_t high_queue_pair = 0;
  bool is_near = false;  ///< within a host, bypassing its adapter
};

inline int flight::from() const noexcept {
  return static_cast<int>(is_upwards ? on->low : on->high);
}
inline int flight::to() const noexcept {
  return static_cast<int>(is_upwards ? on->high : on->low);
}
inline std::uint32_t flight::from_queue_pair() const noexcept {
  return is_upwards ? on->low_queue_pair : on->high_queue_pair;
}
inline std::uint32_t flight::to_queue_pair() const noexcept {
  return is_upwards ? on->high_queue_pair : on->low_queue_pair;
}
inline lane& flight::over() const noexcept {
  return is_upwards ? on->upwards : on->downwards;
}

}  // namespace chorale::simulation::ghosts
