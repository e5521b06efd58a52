// SPDX-License-Identifier: Apache-2.0
// The options of sim-scale.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "models.hpp"

namespace sim_scale {

struct options {
  std::string command;  ///< the command line
  std::string machine = "hdr-64core";
  int ranks_per_host = 0;               ///< 0: as the machine specifies
  bool is_cyclic = false;               ///< consecutive ranks are on different hosts
  bool no_near = false;                 ///< ranks of a host use its adapter
  std::vector<std::string> operations;  ///< all, if empty
  std::string algorithm;                ///< all, if empty
  std::vector<int> ranks{2, 4, 8, 16, 32, 64};
  std::vector<std::size_t> sizes{8, 1024, 16384, 262144};
  bool agreement = false;
  double tolerance = 10;  ///< percent
  std::string table;      ///< a file to write
  double events = 200;    ///< limit in millions for one simulation, extrapolated from fewer ranks
  double behind = 1e9;    ///< omits algorithms that took this multiple of the fastest on fewer ranks
  double gibibytes = 12;  ///< limit of the heap, likewise
};

void add_options(CLI::App& app, options& o);

/// The candidates that the options select.
std::vector<candidate> selected(const options& o);

}  // namespace sim_scale
