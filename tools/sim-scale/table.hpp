// The table of all algorithms.
#pragma once

#include <vector>

#include <chorale/simulation/machine/machine.hpp>

#include "options.hpp"

namespace sim_scale {

/// Prints the time of each algorithm on each group, at each size, with what simulating it took, and which is
/// the fastest; writes `wanted.table` if that is asked for.
void make_table(const options& wanted, const std::vector<candidate>& candidates,
                const chorale::simulation::machine& on);

}  // namespace sim_scale
