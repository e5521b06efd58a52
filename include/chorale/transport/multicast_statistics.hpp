// What one rank has done about multicast.
#pragma once

#include <cstdint>

namespace chorale::transport {

struct multicast_statistics {
  std::uint64_t signals = 0;           ///< multicasts of a signal, each counted once
  std::uint64_t messages = 0;          ///< multicasts of a message, each counted once
  std::uint64_t repairs = 0;           ///< multicasts of either, again
  std::uint64_t naks_sent = 0;         ///< to senders: something is missing
  std::uint64_t naks_received = 0;     ///< from receivers
  std::uint64_t acknowledgements = 0;  ///< sent because half a window was given back
  std::uint64_t questions = 0;         ///< asked: what have you got?
  std::uint64_t answers = 0;           ///< given
  std::uint64_t duplicates = 0;        ///< arrived again, or too late to matter
  std::uint64_t refused = 0;           ///< not of this group, or not as one of its ranks would write it
};

}  // namespace chorale::transport
