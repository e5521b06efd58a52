// What sim-scale is asked for.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "models.hpp"

namespace sim_scale {

struct options {
  std::string machine = "hdr-64core";
  std::vector<std::string> operations;  ///< all, if empty
  std::string algorithm;                ///< all, if empty
  std::vector<int> ranks{2, 4, 8, 16, 32, 64};
  std::vector<std::size_t> sizes{8, 1024, 16384, 262144};
  bool agreement = false;
  double tolerance = 10;  ///< percent
  std::string table;      ///< a file to write
  double seconds = 120;   ///< that one simulation may take, by that of half the ranks
};

void add_options(CLI::App& app, options& o);

/// Those of all candidates that are asked for.
std::vector<candidate> selected(const options& o);

}  // namespace sim_scale
