// SPDX-License-Identifier: Apache-2.0
// Tuning tables, which chorale-bench --table writes and chorale::automatic uses.
#pragma once

#include <string>
#include <vector>

#include <chorale/model/tuning.hpp>

#include "loop.hpp"
#include "output.hpp"

namespace bench {

/// Checks before the measurement whether a table can be written there, and what is there is a table.
/// @throws std::runtime_error naming the file.
void check_tuning(const std::string& file);

/// Writes the rows, measured on the ranks and places of `on`, into the table in `file`, in place of its rows
/// for the same operation, transport, ranks, places and crowding; other rows stay. Where ranks share cores,
/// the time of a call includes the barrier before it.
/// @throws std::runtime_error naming the file if it cannot be read, understood or written.
void write_tuning(const std::string& file, const std::vector<row>& rows, const chorale::model::situation& on);

/// Records in the table in `file` how it was made: its "about", which does not affect choices.
/// @throws as write_tuning.
void describe_tuning(const std::string& file, const facts& about);

}  // namespace bench
