// SPDX-License-Identifier: Apache-2.0
// Jacobi's iteration of examples/10_jacobi.cpp, a problem large enough for many ranks.
#include <cmath>
#include <stdexcept>

#include "scaling.hpp"

// Uses only the functions of the example; its main() becomes an unused function.
#define main program_of_jacobi
#include "../10_jacobi.cpp"
#undef main

namespace {

void solve(chorale::communicator<>& comm, const scaling::work& worked) {
  field mine = jacobi(comm, 1536, 20, worked);
  if (!std::isfinite(mine.at(0, 0))) throw std::runtime_error("Jacobi: a cell is no number");
}

}  // namespace

const scaling::problem scaling::jacobi{"Jacobi", "cell", 2.1, solve};
