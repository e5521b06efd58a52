// SPDX-License-Identifier: Apache-2.0
// The command line that chorale-bench and mpi-peers share.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "files.hpp"
#include "loop.hpp"

namespace bench {

struct common_options {
  std::vector<std::string> operations;
  limits limit;
  files outputs;
  bool progress = false;
};

/// All operations, in the order of the table.
const std::vector<std::string>& all_operations();

/// The sizes that an operation can have: all but broadcast use whole floats.
inline std::size_t least_bytes(const std::string& operation) {
  return operation == "broadcast" ? 1 : sizeof(float);
}
inline constexpr std::size_t most_bytes = std::size_t{1} << 34;

/// Number of blocks, each of the size of a row, that the buffers of these operations (none: of all) must
/// hold: one per rank if an operation has a block for each rank, otherwise one.
int blocks_of(const std::vector<std::string>& operations, int ranks);

/// Sizes, samples, time.
void add_limit_options(CLI::App& app, limits& l);
/// The limits, the operations, and the other options of programs that measure collectives.
void add_common_options(CLI::App& app, common_options& o);

/// Parses. Among several ranks only the first prints, as far as the launcher's variables identify it.
/// @returns the exit status if the program must end now (help, errors), else -1.
int parse(CLI::App& app, int argc, char** argv);

/// True unless the launcher's variables say that this is not rank 0.
bool may_speak();

}  // namespace bench
