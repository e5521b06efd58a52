// What sim-scale is asked for.
#pragma once

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
  double tolerance = 0.1;
  std::string tune;      ///< a file to write
  double seconds = 120;  ///< that one simulation may take, by that of half the ranks
  bool help = false;

  /// @throws std::runtime_error that says what is wrong.
  static options read(const std::vector<std::string>& words);
  static int print_help();
  [[nodiscard]] std::vector<candidate> selected() const;
};

}  // namespace sim_scale
