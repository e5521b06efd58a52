// What chorale-status prints.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "graph.hpp"

namespace status {

/// A job as text. `most`: ranks of a communicator that are listed, waits that are drawn.
void print(const job& j, std::size_t most);

/// One object: `jobs` (each `processes`, `communicators` with `ranks`, `cycles`, `ends`) and `problems`.
std::string to_json(const std::vector<job>& jobs);

// Words, for both.
/// "rank 2", or "rank 2 of 'solver'" where the job has several communicators.
std::string name_of(const job& j, std::size_t place);
/// "barrier (call 7)".
std::string describe_call(const place& p);
/// What it does, in a clause.
std::string describe(const place& p);
/// "runs", "sleeps", "is stopped": the thread that uses it.
const char* describe_state(char state);

}  // namespace status
