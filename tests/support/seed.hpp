// SPDX-License-Identifier: Apache-2.0
// The seed of a test program, of one process or of many.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>

#include <fmt/format.h>

namespace support {

/// CHORALE_TEST_SEED or random; printed once.
inline std::uint64_t seed() {
  static const std::uint64_t value = [] {
    const char* given = std::getenv("CHORALE_TEST_SEED");
    const std::uint64_t s = given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device{}();
    std::cout << "CHORALE_TEST_SEED=" << s << std::endl;
    return s;
  }();
  return value;
}

/// CHORALE_TEST_SEED, or a random number that rank 0 draws; rank 0 prints it.
template <class Comm>
std::uint64_t common_seed(Comm& comm) {
  const char* given = std::getenv("CHORALE_TEST_SEED");
  std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device{}();
  comm.broadcast(seed);
  if (comm.rank() == 0) fmt::print(stderr, "{} ranks, CHORALE_TEST_SEED={}\n", comm.size(), seed);
  return seed;
}

}  // namespace support
