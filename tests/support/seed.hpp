// The seed of a test program.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>

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

}  // namespace support
