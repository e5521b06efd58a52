// A whole run by a seed, in this process.
#pragma once

#include <cstdint>
#include <string>

#include "printed.hpp"

namespace seeds {

struct verdict {
  std::string complaint;  ///< empty: all was as it has to be; else with the schedule and what happened
  std::string digest;     ///< the same for the same history
  std::uint64_t events = 0;
  int ended_well = 0;  ///< ranks
  int failed = 0;      ///< ranks that got an error
  bool had_faults = false;
};

/// `errors`: where what it prints to standard error can be read.
verdict run_seed(std::uint64_t seed, const printed& errors);

}  // namespace seeds
