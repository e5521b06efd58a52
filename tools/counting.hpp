// Counts the instructions of calls under callgrind, for the programs that tools/count-instructions and
// tools/count-layers run.
#pragma once

#include <string>
#include <valgrind/callgrind.h>

namespace counting {

/// Makes `calls` times `body(i)` on both ranks, and leaves the count of all of them in a dump of that name.
template <class Comm, class Body>
void count(Comm& comm, const std::string& name, int calls, const Body& body) {
  // The macro refers to it after its own end.
  const std::string dump = name + " " + std::to_string(calls);
  for (int i = 0; i < 32; ++i) body(i);
  comm.barrier();
  if (comm.rank() == 0) CALLGRIND_ZERO_STATS;
  comm.barrier();
  for (int i = 0; i < calls; ++i) body(i);
  comm.barrier();
  if (comm.rank() == 0) CALLGRIND_DUMP_STATS_AT(dump.c_str());
  comm.barrier();
}

/// The same for each rank in a dump of its own, whose name ends in the number of the rank. Callgrind has to
/// keep threads apart.
template <class Comm, class Body>
void count_ranks(Comm& comm, const std::string& name, int calls, const Body& body) {
  const std::string dump = name + " " + std::to_string(calls) + " " + std::to_string(comm.rank());
  for (int i = 0; i < 32; ++i) body(i);
  comm.barrier();
  CALLGRIND_ZERO_STATS;
  for (int i = 0; i < calls; ++i) body(i);
  CALLGRIND_DUMP_STATS_AT(dump.c_str());
  comm.barrier();
}

}  // namespace counting
