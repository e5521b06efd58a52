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

/// For how many blocks, each of the bytes of a row, the buffers of these operations (none: of all) need room
/// on so many ranks: one for each rank only where an operation has one for each.
int blocks_of(const std::vector<std::string>& operations, int ranks);

/// Sizes, samples, time.
void add_limit_options(CLI::App& app, limits& l);
/// Those, the operations and what else programs that measure collectives have.
void add_common_options(CLI::App& app, common_options& o);

/// Parses. Of several ranks only the first speaks, as far as the launcher's variables tell.
/// @returns the exit status if the program is to end now (help, mistakes), else -1.
int parse(CLI::App& app, int argc, char** argv);

/// True unless the launcher's variables say that this is not rank 0.
bool may_speak();

}  // namespace bench
