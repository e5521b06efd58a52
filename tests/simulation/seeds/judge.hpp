// Whether what became of a run is what had to become of it.
#pragma once

#include <string>

#include <chorale/simulation/run.hpp>

#include "play.hpp"
#include "schedule.hpp"

namespace seeds {

/// What a run took and printed.
struct outcome {
  chorale::simulation::duration elapsed{};
  std::string printed;  ///< to standard error
};

/// What is wrong with it, a line each; empty if nothing is.
[[nodiscard]] std::string judge(const schedule& s, const history& all, const outcome& what);

}  // namespace seeds
