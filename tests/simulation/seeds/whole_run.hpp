// SPDX-License-Identifier: Apache-2.0
// A whole run from a seed, in this process.
#pragma once

#include <cstdint>
#include <string>

#include "printed.hpp"

namespace seeds {

struct verdict {
  std::string complaint;  ///< empty if all is correct; else with the schedule and the history
  std::string digest;     ///< the same for the same history
  std::uint64_t events = 0;
  int ended_well = 0;  ///< ranks that succeeded
  int failed = 0;      ///< ranks that got an error
  bool had_faults = false;
};

/// `errors` gives access to its standard error.
verdict run_seed(std::uint64_t seed, const printed& errors);

}  // namespace seeds
