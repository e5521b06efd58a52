// SPDX-License-Identifier: Apache-2.0
// The conjugate gradients of examples/08_conjugate_gradient.cpp, a problem large enough for many ranks.
#include <cmath>
#include <stdexcept>

#include "scaling.hpp"

// Uses only the functions of the example; its main() becomes an unused function.
#define main program_of_conjugate_gradient
#include "../08_conjugate_gradient.cpp"
#undef main

namespace {

void solve_part(chorale::communicator<>& comm, const scaling::work& worked) {
  constexpr int steps = 20;  // of many: each costs the same
  const solution found = conjugate_gradient(comm, 1024, steps, worked);
  if (found.steps != steps || !std::isfinite(found.u.front()))
    throw std::runtime_error("conjugate gradient: steps are missing, or a cell is no number");
}

}  // namespace

const scaling::problem scaling::conjugate_gradient{"conjugate gradient", "cell", 6.8, solve_part};
