// What went over a connection, as one side counts it.
#pragma once

#include <cstdint>

namespace chorale::transport {

/// What one side has sent by a connection and its predecessors, and what it has got. Travels as it lies in
/// memory.
struct ledger {
  std::uint64_t sent;      ///< messages
  std::uint64_t received;  ///< messages of the peer handed out
  std::uint64_t released;  ///< ... and given back
  std::uint64_t signal_sent;
  std::uint64_t signal_seen;
  std::uint64_t notices_sent;
  std::uint64_t notices_received;

  /// True if nothing is under way between the two sides, in either direction.
  [[nodiscard]] constexpr bool balances(const ledger& theirs) const noexcept {
    return theirs.sent == received && theirs.received == sent && theirs.released == sent &&
           released == theirs.sent && theirs.signal_sent == signal_seen &&
           theirs.signal_seen == signal_sent && theirs.notices_sent == notices_received &&
           theirs.notices_received == notices_sent;
  }
  /// True if this side has taken, and given back, all that the other one had sent by then.
  [[nodiscard]] constexpr bool has_taken(const ledger& theirs) const noexcept {
    return released >= theirs.sent && signal_seen >= theirs.signal_sent &&
           notices_received >= theirs.notices_sent;
  }
};

}  // namespace chorale::transport
