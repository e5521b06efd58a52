// What the calls of a communicator have cost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <chorale/core/call.hpp>
#include <chorale/core/clock.hpp>

namespace chorale {

/// The calls that one rank has made, by operation and algorithm, since its communicator was made. Calls that
/// are not over do not count, nor do those that were refused.
struct call_statistics {
  struct row {
    operation what = operation::none;
    bool is_nonblocking = false;
    std::string algorithm;       ///< that ran; empty if the call failed before it was known
    std::uint64_t calls = 0;     ///< failed ones among them
    std::uint64_t failures = 0;  ///< calls that threw
    std::uint64_t bytes = 0;  ///< the sum of `call::bytes`: of one rank's message; 0 where ranks may differ
    /// From making the call to its end. Of nonblocking calls: what the program computed meanwhile included.
    clock::duration time{};
    clock::duration waited{};  ///< of it, in waits for other ranks that kept the thread
    /// Messages that were sent again, by the end of the call, since the end of the call before. Only
    /// datagrams count: an adapter does not say what it repeats for a connection.
    std::uint64_t resent = 0;
  };

  int rank = 0;
  int size = 0;
  std::string transport;
  std::string name;       ///< of the communicator
  std::vector<row> rows;  ///< by operation; of one operation in the order of their first calls

  [[nodiscard]] row total() const;
  /// Several lines: a heading, a line for each row, the total.
  [[nodiscard]] std::string table() const;
};

namespace transport {
class call_record;
/// Of the communicator with these calls. @throws error errc::misuse if they are not counted.
[[nodiscard]] call_statistics statistics_of(const call_record& calls);
}  // namespace transport

}  // namespace chorale
