// The traffic on the links of a simulated network, as a table.
#pragma once

#include <chorale/simulation/run.hpp>

/// Prints the links that carried data, the busiest first.
void print_links(const chorale::simulation::run_result& of);
