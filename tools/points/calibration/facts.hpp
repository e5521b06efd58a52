// SPDX-License-Identifier: Apache-2.0
// The facts that `chorale-points calibrate` measures: about one host, or between two ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "../figure.hpp"

namespace points::calibration {

/// The time in seconds of work on a number of bytes; lists have ascending numbers.
struct work_point {
  std::size_t bytes = 0;
  double seconds = 0;
};
using work_facts = std::vector<work_point>;

/// Times in seconds.
struct host_facts {
  int cores = 1;
  work_facts copy;
  work_facts combine;
  double look = 0;    ///< at a cache line that is not written
  double notice = 0;  ///< from a store on one core until another core sees it
  double wake = 0;    ///< of a thread that waits for a file
  double crowd = 0;   ///< additional time of a context switch among four processes, compared with two
};

struct adapter_facts {
  double request = 0;
  double doorbell = 0;
  std::uint32_t inline_bytes = 0;
  double receive = 0;
  double poll = 0;
  double completion = 0;
  double start = 0;  ///< the rest of the latency of a short write, besides posting, noticing and looking
  double take = 0;
  double datagram = 0;  ///< additional time of a datagram, compared with a message of a connection
  double acknowledge = 0;
  double read = 0;
  double atomic = 0;
  work_facts copy;              ///< of a payload, to memory that was not read since the previous write
  work_facts copy_touched;      ///< to memory that the other core has read since
  work_facts reach;             ///< additional time for memory that the device has not allocated
  work_facts copy_received;     ///< memcpy of data that the other core has written
  work_facts combine_received;  ///< a sum with such data
  double registration_call = 0;
  double registration_page = 0;
  double end_call = 0;
  double end_page = 0;
  std::uint32_t mtu = 0;  ///< bytes
};

/// Times of the library's own work.
struct library_facts {
  double context_switch = 0;  ///< from a waiting rank to another on the same core
  double call = 0;            ///< of a collective call
  double send = 0;            ///< of a message
  double receive = 0;         ///< of a message from a receive queue
};

/// Half of the round-trip time between ranks 0 and 1, in seconds; the same on all ranks. `rounds(n)` makes n
/// round trips and is called on both.
double one_way(const job& in, const std::function<void(int)>& rounds);

/// The median time of a call in seconds, over samples of `calls` calls. On this rank alone.
double time_of(int calls, const std::function<void(int)>& make);

/// Seconds from the turn of a process to that of the next, while `processes` processes yield the caller's
/// core to each other in turn. Forks them. @throws std::runtime_error if that fails.
double turn_of(int processes);

/// Each of these is collective over the two ranks of the job; the facts are rank 0's.
host_facts measure_host(const job& in);
adapter_facts measure_adapter(const job& in, const host_facts& host);
library_facts measure_library(const job& in, const adapter_facts& adapter, const host_facts& host);

/// The file of a machine of one host (docs/machines.md), named after `file`.
/// @throws std::system_error naming the file if it cannot be written.
void write_machine(const std::string& file, const std::string& about, const host_facts& host,
                   const adapter_facts& adapter, const library_facts& library);

}  // namespace points::calibration
