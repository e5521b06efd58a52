// SPDX-License-Identifier: Apache-2.0
// k-means of examples/14_k_means.cpp, a problem large enough for many ranks.
#include <cstdint>
#include <numeric>
#include <stdexcept>

#include "scaling.hpp"

// Uses only the functions of the example; its main() becomes an unused function.
#define main program_of_k_means
#include "../14_k_means.cpp"
#undef main

namespace {

void solve(chorale::communicator<>& comm, const scaling::work& worked) {
  constexpr std::size_t points = 100'000;
  const clustering found = k_means(comm, points, 12, worked);
  if (std::accumulate(found.sizes.begin(), found.sizes.end(), std::int64_t{}) != points)
    throw std::runtime_error("k-means: not all points are in clusters");
}

}  // namespace

const scaling::problem scaling::k_means{"k-means", "distance", 1.6, solve};
