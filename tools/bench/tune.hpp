// Tuning tables: what chorale-bench --table writes and chorale::automatic chooses by.
#pragma once

#include <string>
#include <vector>

#include "loop.hpp"
#include "output.hpp"

namespace bench {

/// Puts the measured rows into the table in `file`, in place of what it has for the same operation,
/// transport, number of ranks and crowding; other rows stay. `crowded`: ranks share cores, so that what
/// counts is all the time a call takes, that of the barrier before it included.
/// @throws std::runtime_error naming the file if it cannot be read, understood or written.
void write_tuning(const std::string& file, const std::vector<row>& rows, int ranks, bool crowded);

/// Has the table in `file` say how it was made: its "about", which nothing is chosen by.
/// @throws as write_tuning.
void describe_tuning(const std::string& file, const facts& about);

}  // namespace bench
