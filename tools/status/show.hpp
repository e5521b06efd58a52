// SPDX-License-Identifier: Apache-2.0
// The output of chorale-status.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "graph.hpp"

namespace status {

/// Prints a job as text. `most`: limit of listed ranks per communicator, and of drawn waits.
void print(const job& j, std::size_t most);

/// One object: `jobs` (each `processes`, `communicators` with `ranks`, `cycles`, `ends`) and `problems`.
std::string to_json(const std::vector<job>& jobs);

// Phrases common to both.
/// "rank 2", or "rank 2 of 'solver'" if the job has several communicators.
std::string name_of(const job& j, std::size_t place);
/// "barrier (call 7)".
std::string describe_call(const place& p);
/// The activity of a place, as a clause.
std::string describe(const place& p);
/// The state of a thread in words: "runs", "sleeps", "is stopped".
const char* describe_state(char state);

}  // namespace status
