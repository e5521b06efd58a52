// SPDX-License-Identifier: Apache-2.0
// The product of examples/07_matrix_multiply.cpp, a problem large enough for many ranks.
#include <cmath>
#include <stdexcept>

#include "scaling.hpp"

// Uses only the functions of the example; its main() becomes an unused function.
#define main program_of_matrix_multiply
#include "../07_matrix_multiply.cpp"
#undef main

namespace {

void solve(chorale::communicator<>& comm, const scaling::work& worked) {
  constexpr std::size_t n = 1024;
  const product made = multiply(comm, n, worked);
  // The first element of this rank's rows, from the definition.
  double expected = 0;
  for (std::size_t k = 0; k < n; ++k)
    expected += a_at(first_row(n, comm.rank(), comm.size()), k) * b_at(k, 0);
  if (!(std::abs(made.c.front() - expected) <= 1e-12 * n))
    throw std::runtime_error("matrix multiply: an element is wrong");
}

}  // namespace

const scaling::problem scaling::matrix_multiply{"matrix multiply", "multiplication", 0.04, solve};
