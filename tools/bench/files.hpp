// The files that a result is written to.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include <chorale/bench/contestant.hpp>

#include "result.hpp"

namespace bench {

/// Names of files; empty where none is wanted.
struct files {
  std::string json;
  std::string csv;
  std::string plot;
  std::string report;
};

void add_file_options(CLI::App& app, files& f);

/// Finds out before anything is measured whether these files can be made; what is there stays as it is.
/// @throws std::exception saying what is wrong and what helps.
void check_files(const files& f);

/// Whether rank 0 can write these files, of which it complains by the name of `program` if not. Collective,
/// so that all ranks end before they measure if it cannot.
bool can_write(const files& f, const std::string& program, chorale::bench::team& all);

/// Writes each of them, whole or not at all; also the others if one fails. JSON and CSV are of the first
/// result alone.
/// @throws std::exception as above, of the first that failed.
void write_files(const files& f, const std::vector<named_result>& all);

}  // namespace bench
