// SPDX-License-Identifier: Apache-2.0
// The measurements of a run, and the facts about it: the basis of tables, files, pictures and reports.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "loop.hpp"

namespace bench {

/// Facts about the run, in the order in which they are printed.
using facts = std::vector<std::pair<std::string, std::string>>;

/// A row and, if a list of set-ups is measured, the names of its set-up and contestant; otherwise these are
/// empty.
struct result_row {
  std::string set_up;
  std::string contestant;
  row measured;
};

inline bool is_of_set_up(const result_row& one) {
  return !one.set_up.empty() || !one.contestant.empty();
}

struct run_result {
  facts about;  ///< the library, its device, and how ranks were launched
  int ranks = 0;
  std::vector<result_row> rows;
  facts machine = {};  ///< the host of rank 0; empty in a simulation
  facts run = {};      ///< the command, and when it ran; empty in a simulation
};

/// Host, processor, cores, caches, memory, kernel, and whether the machine is a virtual one. Unknown facts
/// are omitted.
facts machine_facts();

/// The command line, the settings of the environment, the date (UTC) and the load of the host.
facts run_facts();

/// Facts whose presence affects more than the printed text.
inline constexpr std::pair<const char*, const char*> crowded_fact{"waiting",
                                                                  "ranks outnumber cores: yielding"};
inline constexpr std::pair<const char*, const char*> back_to_back_fact{
    "calls with a root", "back to back, without a barrier between them"};
bool is_back_to_back(const run_result& one);

/// A result and its name, which distinguishes it in a picture; empty if it is the only one.
struct named_result {
  std::string name;
  run_result what;
};

/// Reads the output of as_json; ignores unknown members.
/// @throws std::runtime_error naming the file, the row and the error.
run_result read_result(const std::string& file);

/// Several results, each named by its file, or by its path if file names are equal. A single result has no
/// name.
std::vector<named_result> read_results(const std::vector<std::string>& names);

/// The rows of a run without set-ups.
std::vector<result_row> rows_of_result(const std::vector<row>& rows);

/// Rows with a wrong result.
int count_wrong(const std::vector<result_row>& rows);

}  // namespace bench
