// What one rank has sent another, and what of it has come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <chorale/core/call.hpp>
#include <chorale/simulation/time.hpp>

#include "fifo.hpp"

namespace chorale::simulation::ghosts {

struct flight;

/// A message of a mailbox.
struct ghost {
  call_id now{};
  std::uint64_t bytes = 0;
  std::unique_ptr<std::byte[]> content{};  ///< null: zeroes
};

/// From one rank to another: what the memory of either has of it. Counts are from the beginning on.
struct lane {
  instant departed;               ///< when the last message has left: none leaves before it
  instant placed;                 ///< when the last message was: nothing overtakes
  fifo<flight*> behind;           ///< a long message that is still leaving: messages that wait for its end
  bool is_leaving = false;        ///< there is one
  fifo<ghost> messages;           ///< that have come, and were not given back
  std::uint64_t signal = 0;       ///< number of the last call that was signalled
  std::uint32_t sent = 0;         ///< messages
  std::uint32_t freed = 0;        ///< of these the receiver has given back so many
  std::uint32_t told = 0;         ///< so many the receiver has told the sender of
  std::uint32_t known = 0;        ///< so many the sender knows of
  std::uint32_t taken = 0;        ///< of `messages` so many have been received
  std::uint32_t notices = 0;      ///< that have come and were not waited for
  std::uint32_t requests = 0;     ///< puts and gets
  std::uint32_t completions = 0;  ///< of these so many are over
  std::uint32_t completed = 0;    ///< so many the sender has seen completions of
};

/// Both directions between two ranks, of which `low` is the lower number, and their queue pairs.
struct connection {
  lane upwards;  ///< from the lower rank
  lane downwards;
  std::uint32_t low_queue_pair = 0;
  std::uint32_t high_queue_pair = 0;
};

}  // namespace chorale::simulation::ghosts
