// What sim-scale is asked for.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "models.hpp"

namespace sim_scale {

struct options {
  std::string command;  ///< as it was given
  std::string machine = "hdr-64core";
  int ranks_per_host = 0;               ///< 0: as many as the machine says
  std::vector<std::string> operations;  ///< all, if empty
  std::string algorithm;                ///< all, if empty
  std::vector<int> ranks{2, 4, 8, 16, 32, 64};
  std::vector<std::size_t> sizes{8, 1024, 16384, 262144};
  bool agreement = false;
  double tolerance = 10;  ///< percent
  std::string table;      ///< a file to write
  double events = 200;    ///< millions that one simulation may take, by those of fewer ranks
  double behind = 1e9;    ///< the fastest on fewer ranks, so many times
  double gibibytes = 12;  ///< likewise, of the heap
};

void add_options(CLI::App& app, options& o);

/// Those of all candidates that are asked for.
std::vector<candidate> selected(const options& o);

}  // namespace sim_scale
