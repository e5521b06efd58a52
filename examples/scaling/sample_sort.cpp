// SPDX-License-Identifier: Apache-2.0
// The sorting of examples/15_sample_sort.cpp, a problem large enough for many ranks.
#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

#include "scaling.hpp"

// Uses only the functions of the example; its main() becomes an unused function.
#define main program_of_sample_sort
#include "../15_sample_sort.cpp"
#undef main

namespace {

void solve(chorale::communicator<>& comm, const scaling::work& worked) {
  constexpr std::size_t all = 1'000'000;
  const auto first = [&](int rank) {
    return static_cast<std::size_t>(rank) * all / static_cast<std::size_t>(comm.size());
  };
  std::vector<key> keys;
  for (std::size_t i = first(comm.rank()); i < first(comm.rank() + 1); ++i) keys.push_back(key_at(i));
  const std::vector<key> part = sample_sort(comm, std::move(keys), worked);
  if (!std::is_sorted(part.begin(), part.end()) || comm.allreduce(part.size(), chorale::sum) != all)
    throw std::runtime_error("sample sort: the keys are not in order, or not all there");
}

}  // namespace

const scaling::problem scaling::sample_sort{"sample sort", "comparison", 2.6, solve};
