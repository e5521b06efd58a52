// SPDX-License-Identifier: Apache-2.0
// Tuning tables, which chorale-bench --table writes and chorale::automatic uses.
#pragma once

#include <string>
#include <vector>

#include "loop.hpp"
#include "output.hpp"

namespace bench {

/// Writes the measured rows into the table in `file`, in place of its rows for the same operation, transport,
/// number of ranks and crowding; other rows stay. `crowded`: ranks share cores; then the time of a call
/// includes the barrier before it.
/// @throws std::runtime_error naming the file if it cannot be read, understood or written.
void write_tuning(const std::string& file, const std::vector<row>& rows, int ranks, bool crowded);

/// Records in the table in `file` how it was made: its "about", which does not affect choices.
/// @throws as write_tuning.
void describe_tuning(const std::string& file, const facts& about);

}  // namespace bench
