// What the streams of a rank have done.
#pragma once

#include <cstdint>

namespace chorale::transport::reliable {

/// Counted since the streams were made.
struct stream_statistics {
  std::uint64_t packets = 0;           ///< numbered packets sent, each counted once
  std::uint64_t signals = 0;           ///< signals sent, each counted once
  std::uint64_t resent = 0;            ///< packets and signals sent again
  std::uint64_t acknowledgements = 0;  ///< datagrams sent for nothing but to say what has come
  std::uint64_t resend_requests = 0;   ///< datagrams that asked for something to be sent again
  std::uint64_t answers = 0;           ///< answers to those and to questions that had nothing to send again
  std::uint64_t questions = 0;         ///< datagrams that asked for an acknowledgement
  std::uint64_t duplicates = 0;        ///< packets that had come before
  std::uint64_t early = 0;             ///< packets that had overtaken others
  std::uint64_t dropped = 0;           ///< packets for which there was no room
  std::uint64_t refused = 0;           ///< accesses of peers that were not allowed
  std::uint64_t most_buffered = 0;     ///< most messages of one rank that waited here at once
};

}  // namespace chorale::transport::reliable
