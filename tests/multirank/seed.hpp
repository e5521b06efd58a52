// The seed of a test program, one for all ranks.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>

#include <fmt/format.h>

namespace multirank {

/// CHORALE_TEST_SEED, or a random number that rank 0 draws; rank 0 prints it.
template <class Comm>
std::uint64_t common_seed(Comm& comm) {
  const char* given = std::getenv("CHORALE_TEST_SEED");
  std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device{}();
  comm.broadcast(seed, 0);
  if (comm.rank() == 0) fmt::print(stderr, "{} ranks, CHORALE_TEST_SEED={}\n", comm.size(), seed);
  return seed;
}

}  // namespace multirank
