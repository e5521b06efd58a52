// SPDX-License-Identifier: Apache-2.0
// Counts the instructions of calls under callgrind, for the programs that tools/measure instructions and
// tools/measure layers run.
#pragma once

#include <string>
#include <valgrind/callgrind.h>

#include <chorale/chorale.hpp>

namespace counting {

/// Uses the table's choice, the same in each count; older commits may not have trials.
template <class Config>
void without_trials(Config& c) {
  if constexpr (requires { c.trials; }) c.trials = decltype(c.trials)::off;
}

/// Calls `body(communicator)` on two ranks of this process.
template <class Transport, class Body>
void on_two_ranks(const Body& body) {
  chorale::config c;
  without_trials(c);
  c.device = "soft0";
  c.wait = chorale::wait_policy::yield;
  chorale::bootstrap::run_in_process(2, [&](auto& group) {
    chorale::communicator<Transport> comm{group, c};
    body(comm);
  });
}

/// Calls `body(i)` `calls` times on both ranks, and stores the total count in a dump of that name.
template <class Comm, class Body>
void count(Comm& comm, const std::string& name, int calls, const Body& body) {
  // Named, since the macro refers to the text after its own end.
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

/// The same with one dump per rank, whose name ends in the rank's number. Callgrind must run with
/// --separate-threads=yes.
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
