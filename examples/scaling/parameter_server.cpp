// SPDX-License-Identifier: Apache-2.0
// The learning of examples/17_parameter_server.cpp, a problem large enough for many ranks.
#include <stdexcept>

#include "scaling.hpp"

// Uses only the functions of the example; its main() becomes an unused function.
#define main program_of_parameter_server
#include "../17_parameter_server.cpp"
#undef main

namespace {

void solve(chorale::communicator<>& comm, const scaling::work& worked) {
  constexpr std::size_t rounds = 10;
  if (learn(comm, 4096, rounds, worked).samples != rounds * samples)
    throw std::runtime_error("parameter server: not each sample has been used once");
}

}  // namespace

const scaling::problem scaling::parameter_server{"parameter server", "multiplication", 1.8, solve};
