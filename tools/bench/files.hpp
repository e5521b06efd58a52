// SPDX-License-Identifier: Apache-2.0
// The output files of a result.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include <chorale/bench/contestant.hpp>

#include "result.hpp"

namespace bench {

/// File names; empty for no file.
struct files {
  std::string json;
  std::string csv;
  std::string plot;
  std::string report;
};

void add_file_options(CLI::App& app, files& f);

/// Checks before the measurement whether these files can be made and written; existing files stay unchanged.
/// @throws std::exception with the problem and the remedy.
void check_files(const files& f);

/// Whether `check`, which rank 0 calls, such as check_files, finds no fault; if it does, rank 0 prints the
/// error in the name of `program`. Collective, so that all ranks can end before the measurement.
bool can_write(const std::function<void()>& check, const std::string& program, chorale::bench::team& all);

/// Writes each file, whole or not at all, and the others even if one fails. JSON and CSV contain only the
/// first result.
/// @throws std::exception as above, for the first that failed.
void write_files(const files& f, const std::vector<named_result>& all);

/// chorale-bench --from: prints the rows of these files, results of earlier runs, perhaps of other machines;
/// only those of `operations` if given. Writes the requested files.
/// @throws std::runtime_error naming what is wrong.
void show_again(const std::vector<std::string>& from, const std::vector<std::string>& operations,
                const files& f);

}  // namespace bench
