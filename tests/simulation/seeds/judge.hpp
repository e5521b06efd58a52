// Whether what became of a run is what had to become of it.
#pragma once

#include <string>

#include <chorale/simulation/run.hpp>

#include "play.hpp"
#include "schedule.hpp"

namespace seeds {

/// What is wrong with it, a line each; empty if nothing is.
[[nodiscard]] std::string judge(const schedule& s, const history& all, chorale::simulation::duration elapsed);

}  // namespace seeds
