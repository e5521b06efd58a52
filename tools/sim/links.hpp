// What went over the links of a simulated network, as a table.
#pragma once

#include <chorale/simulation/run.hpp>

/// Prints the links that carried anything, those first that were taken longest.
void print_links(const chorale::simulation::run_result& of);
