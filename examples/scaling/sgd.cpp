// SPDX-License-Identifier: Apache-2.0
// The training of examples/16_sgd.cpp, a problem large enough for many ranks.
#include <cmath>
#include <stdexcept>

#include "scaling.hpp"

// Uses only the functions of the example; its main() becomes an unused function.
#define main program_of_sgd
#include "../16_sgd.cpp"
#undef main

namespace {

void solve(chorale::communicator<>& comm, const scaling::work& worked) {
  const network net = train(comm, {{32, 256}, {256, 128}, {128, 1}}, 5, 512, 0.5, worked);
  if (!std::isfinite(net.front().weights.front())) throw std::runtime_error("SGD: a weight is no number");
}

}  // namespace

const scaling::problem scaling::sgd{"SGD", "multiplication", 0.45, solve};
