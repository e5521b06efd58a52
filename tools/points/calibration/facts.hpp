// What `chorale-points calibrate` finds out about a machine: all of one host, or of two ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "../figure.hpp"

namespace points::calibration {

/// What work on so many bytes takes, in seconds, for ascending numbers of them.
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
  double look = 0;    ///< at a cache line that nobody writes
  double notice = 0;  ///< from a store of one core until the other has seen it
  double wake = 0;    ///< of a thread that sleeps for a file
  double crowd = 0;   ///< that a context switch among four processes takes longer than one between two
};

struct adapter_facts {
  double request = 0;
  double doorbell = 0;
  std::uint32_t inline_bytes = 0;
  double receive = 0;
  double poll = 0;
  double completion = 0;
  double start = 0;  ///< all of the way of a short write that is not posting, noticing or looking
  double take = 0;
  double datagram = 0;  ///< that a datagram takes longer than a message of a connection
  double acknowledge = 0;
  double read = 0;
  double atomic = 0;
  work_facts copy;              ///< of a payload to where nobody has touched what was written before
  work_facts copy_touched;      ///< to where the other core has read it
  work_facts reach;             ///< further, to memory that the device has not allocated
  work_facts copy_received;     ///< memcpy of what the other core has written
  work_facts combine_received;  ///< a sum with that
  double registration_call = 0;
  double registration_page = 0;
  double end_call = 0;
  double end_page = 0;
  std::uint32_t mtu = 0;  ///< bytes
};

/// What the library does itself.
struct library_facts {
  double context_switch = 0;  ///< from a rank that waits to another on the same core
  double call = 0;            ///< of a collective call
  double send = 0;            ///< of a message
  double receive = 0;         ///< of a message that comes by a receive queue
};

/// Half of the time of something to and fro between ranks 0 and 1, in seconds; on all ranks.
/// `rounds(n)` makes n rounds and is called on both.
double one_way(const job& in, const std::function<void(int)>& rounds);

/// The median time of a call in seconds, over samples of so many calls. On this rank alone.
double time_of(int calls, const std::function<void(int)>& make);

/// From the turn of a process to that of the next, in seconds, while so many have the core of the caller in
/// turns by giving way to each other. Forks them. Throws std::runtime_error if they cannot be had.
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
