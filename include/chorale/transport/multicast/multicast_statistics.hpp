// SPDX-License-Identifier: Apache-2.0
// Multicast statistics of one rank.
#pragma once

#include <cstdint>

namespace chorale::transport {

struct multicast_statistics {
  std::uint64_t signals = 0;           ///< multicasts of a signal, each counted once
  std::uint64_t messages = 0;          ///< multicasts of a message, each counted once
  std::uint64_t repairs = 0;           ///< retransmissions of either
  std::uint64_t naks_sent = 0;         ///< reports of missing messages, to senders
  std::uint64_t naks_received = 0;     ///< reports of missing messages, from receivers
  std::uint64_t acknowledgements = 0;  ///< sent because half a window was released
  std::uint64_t questions = 0;         ///< questions to receivers: what has arrived?
  std::uint64_t answers = 0;           ///< answers to such questions
  std::uint64_t duplicates = 0;        ///< received again, or too late to matter
  std::uint64_t refused = 0;           ///< of another group, or malformed
};

}  // namespace chorale::transport
