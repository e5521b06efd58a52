// SPDX-License-Identifier: Apache-2.0
// Examples as parts of the program that runs them in virtual time. Each source here includes one of them.
#pragma once

#include <functional>

#include <chorale/chorale.hpp>

namespace scaling {

/// Receives the amount of an example's computation, in units of the example.
using work = std::function<void(double)>;

/// An example, with a problem of one size for any number of ranks.
struct problem {
  const char* name;
  const char* unit;    ///< the unit of its work
  double nanoseconds;  ///< per unit on one core of a measured machine (docs/examples.md)
  /// The work of each rank. Collective. @throws std::runtime_error if the result cannot be right.
  void (*solve)(chorale::communicator<>& comm, const work& worked);
};

// Matrices are multiplied by a BLAS; without one, this problem is left out.
#ifdef CHORALE_EXAMPLES_HAVE_BLAS
extern const problem matrix_multiply;
#endif
extern const problem conjugate_gradient;
extern const problem jacobi;
extern const problem heat;
extern const problem k_means;
extern const problem sample_sort;
extern const problem sgd;
extern const problem parameter_server;

}  // namespace scaling
