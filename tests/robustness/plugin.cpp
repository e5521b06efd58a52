// SPDX-License-Identifier: Apache-2.0
// A plug-in that uses Chorale, for a program that does not.
#include <cstdio>
#include <exception>
#include <vector>

#include <chorale/chorale.hpp>

/// Makes a communicator and calls; false, with a line on standard output, on any error.
extern "C" bool use_chorale();

extern "C" bool use_chorale() {
  try {
    chorale::communicator<> comm;
    std::vector<double> sums(100'000, 1.0);
    comm.allreduce(chorale::in_place, sums, chorale::sum);
    auto twin = comm.duplicate();
    twin.barrier();
    if (sums.back() == comm.size()) return true;
    std::printf("the sum is %g\n", sums.back());
  } catch (const std::exception& e) {
    std::printf("%s\n", e.what());
  }
  return false;
}
