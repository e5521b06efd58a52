// What one rank has sent another, and what of it has come.
#pragma once

#include <cstddef>
#include <cstdint>

#include <chorale/simulation/time.hpp>

#include "flight.hpp"

namespace chorale::simulation::ghosts {

/// From one rank to another: what the memory of either has of it. Counts are from the beginning on.
struct lane {
  instant departed;                ///< when the last message has left: none leaves before it
  instant placed;                  ///< when the last message was: nothing overtakes
  flight_list behind;              ///< a long message that is still leaving: messages that wait for its end
  flight_list messages;            ///< that have come, and were not given back
  const flight* unseen = nullptr;  ///< the first of `messages` that was not received; null: all were
  std::uint64_t signal = 0;        ///< number of the last call that was signalled
  std::uint32_t sent = 0;          ///< messages
  std::uint32_t freed = 0;         ///< of these the receiver has given back so many
  std::uint32_t told = 0;          ///< so many the receiver has told the sender of
  std::uint32_t known = 0;         ///< so many the sender knows of
  std::uint32_t notices = 0;       ///< that have come and were not waited for
  std::uint32_t requests = 0;      ///< puts and gets
  std::uint32_t completions = 0;   ///< of these so many are over
  std::uint32_t completed = 0;     ///< so many the sender has seen completions of
  bool is_leaving = false;         ///< there is a message that others wait behind
};

/// Both directions between two ranks, and their queue pairs.
struct connection {
  lane upwards;  ///< from the lower rank
  lane downwards;
  std::uint32_t low = 0;  ///< rank
  std::uint32_t high = 0;
  std::uint32_t low_queue_pair = 0;
  std::uint32_t high_queue_pair = 0;
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
