// SPDX-License-Identifier: Apache-2.0
// Statistics of the calls of a communicator.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>

namespace chorale {

/// The calls of one rank by operation and algorithm, since its communicator was made. Incomplete and rejected
/// calls do not count.
struct call_statistics {
  struct row {
    operation what = operation::none;  ///< none: calls for which no row could be allocated
    bool is_nonblocking = false;
    std::string algorithm;       ///< the algorithm; empty if the call failed before it was known
    std::uint64_t calls = 0;     ///< including failed ones
    std::uint64_t failures = 0;  ///< calls that threw
    /// Sum of `call::bytes`: of one rank's message; 0 where it may differ between ranks
    std::uint64_t bytes = 0;
    /// From the beginning of the call to its end; for nonblocking calls this includes what the program
    /// computed meanwhile. Of many short calls some are timed, and stand for the others (config::sampling).
    clock::duration time{};
    clock::duration waited{};  ///< part of `time` spent in blocking waits for other ranks
    /// Messages retransmitted between the ends of the previous call and of this one. Counts only datagrams:
    /// adapters do not report retransmissions of connections.
    std::uint64_t resent = 0;
  };

  int rank = 0;
  int size = 0;
  std::string transport;
  std::string name;       ///< name of the communicator
  std::vector<row> rows;  ///< by operation; within one operation in the order of the first calls

  [[nodiscard]] row total() const;
  /// Several lines: a heading, one line per row, the total.
  [[nodiscard]] std::string table() const;
};

namespace transport {
class call_record;
/// The statistics of the communicator with these calls. @throws error errc::misuse if they are not recorded.
[[nodiscard]] call_statistics statistics_of(const call_record& calls);
}  // namespace transport

}  // namespace chorale
