// What ranks of a test expect: assertions of the test framework are not thread-safe.
#pragma once

#include <chrono>
#include <exception>
#include <stdexcept>
#include <string>

#include <chorale/core/clock.hpp>

#include "instrumented.hpp"

namespace support {

/// @throws std::runtime_error with `what` unless `holds`.
inline void expect(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

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

/// @returns the message of the exception that `f` throws, or "nothing".
template <class F>
std::string thrown_by(F&& f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "nothing";
}

}  // namespace support
