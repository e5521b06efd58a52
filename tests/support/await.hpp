// A rank's wait for an action of another, outside the library.
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>

#include <chorale/core/clock.hpp>

#include "instrumented.hpp"

namespace support {

/// Returns once `happened()`. @throws std::runtime_error with `what` if that takes longer than any call may:
/// then the other rank has failed, and the test can report it.
template <class Happened>
void await(const char* what, const Happened& happened) {
  const auto give_up = chorale::clock::now() + std::chrono::seconds{instrumented ? 120 : 60};
  while (!happened()) {
    if (chorale::clock::now() > give_up)
      throw std::runtime_error(std::string{"a rank has waited in vain until "} + what);
    chorale::clock::sleep_for(std::chrono::microseconds{100});
  }
}

}  // namespace support
