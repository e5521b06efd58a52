// SPDX-License-Identifier: Apache-2.0
// Whether the outcome of a run is correct.
#pragma once

#include <string>

#include <chorale/simulation/run.hpp>

#include "play.hpp"
#include "schedule.hpp"

namespace seeds {

/// The elapsed time and the output of a run.
struct outcome {
  chorale::simulation::duration elapsed{};
  std::string printed;  ///< to standard error
};

/// The errors of a run, one per line; empty if there are none.
[[nodiscard]] std::string judge(const schedule& s, const history& all, const outcome& what);

}  // namespace seeds
