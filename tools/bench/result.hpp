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

/// The rows of a run without set-ups.
std::vector<result_row> rows_of_result(const std::vector<row>& rows);

/// Rows with a wrong result.
int count_wrong(const std::vector<result_row>& rows);

}  // namespace bench
