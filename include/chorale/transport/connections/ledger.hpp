// SPDX-License-Identifier: Apache-2.0
// One side's count of the traffic on a connection.
#pragma once

#include <cstdint>

namespace chorale::transport {

/// What one side has sent and received on a connection and its predecessors. Sent as raw bytes.
struct ledger {
  std::uint64_t sent;      ///< messages
  std::uint64_t received;  ///< messages received from the peer
  std::uint64_t released;  ///< ... and released
  std::uint64_t signal_sent;
  std::uint64_t signal_seen;
  std::uint64_t notices_sent;
  std::uint64_t notices_received;

  /// True if nothing is in flight between the two sides, in either direction.
  [[nodiscard]] constexpr bool balances(const ledger& theirs) const noexcept {
    return theirs.sent == received && theirs.received == sent && theirs.released == sent &&
           released == theirs.sent && theirs.signal_sent == signal_seen &&
           theirs.signal_seen == signal_sent && theirs.notices_sent == notices_received &&
           theirs.notices_received == notices_sent;
  }
  /// True if this side has received and released everything that the other had sent by then.
  [[nodiscard]] constexpr bool has_taken(const ledger& theirs) const noexcept {
    return released >= theirs.sent && signal_seen >= theirs.signal_sent &&
           notices_received >= theirs.notices_sent;
  }
};

}  // namespace chorale::transport
