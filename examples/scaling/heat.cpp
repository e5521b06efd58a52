// SPDX-License-Identifier: Apache-2.0
// The heat equation of examples/13_heat.cpp, a problem large enough for many ranks.
#include <cmath>
#include <stdexcept>

#include "scaling.hpp"

// Uses only the functions of the example; its main() becomes an unused function.
#define main program_of_heat
#include "../13_heat.cpp"
#undef main

namespace {

void solve(chorale::communicator<>& comm, const scaling::work& worked) {
  const plate mine = heat(comm, 1536, 20, worked);
  if (!std::isfinite(mine.at(0, 0))) throw std::runtime_error("heat: a cell is no number");
}

}  // namespace

const scaling::problem scaling::heat{"heat", "cell", 2.9, solve};
