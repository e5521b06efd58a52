// The table of all algorithms.
#pragma once

#include <vector>

#include <chorale/simulation/machine/machine.hpp>

#include "options.hpp"

namespace sim_scale {

/// Prints the time of each algorithm on each group and at each size, the cost of its simulation, and the
/// fastest one; writes `wanted.table` if given.
void make_table(const options& wanted, const std::vector<candidate>& candidates,
                const chorale::simulation::machine& on);

}  // namespace sim_scale
