// SPDX-License-Identifier: Apache-2.0
// Statistics of a rank's datagram streams.
#pragma once

#include <cstdint>

namespace chorale::transport::reliable {

/// Counted since the streams were made.
struct stream_statistics {
  std::uint64_t packets = 0;           ///< numbered packets sent, each counted once
  std::uint64_t signals = 0;           ///< signals sent, each counted once
  std::uint64_t resent = 0;            ///< retransmitted packets and signals
  std::uint64_t acknowledgements = 0;  ///< separate datagrams sent only to acknowledge
  std::uint64_t resend_requests = 0;   ///< retransmission requests
  std::uint64_t answers = 0;           ///< answers to those and to questions without a retransmission
  std::uint64_t questions = 0;         ///< datagrams that asked for an acknowledgement
  std::uint64_t duplicates = 0;        ///< packets received again
  std::uint64_t early = 0;             ///< packets received out of order, ahead of others
  std::uint64_t dropped = 0;           ///< packets dropped for lack of room
  std::uint64_t refused = 0;           ///< rejected accesses of peers
  std::uint64_t most_buffered = 0;     ///< maximum of buffered messages of one rank
};

}  // namespace chorale::transport::reliable
