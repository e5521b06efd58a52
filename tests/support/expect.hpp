// SPDX-License-Identifier: Apache-2.0
// What ranks of a test expect: assertions of the test framework are not thread-safe.
#pragma once

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <chorale/core/clock.hpp>
#include <chorale/core/error.hpp>

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

/// @returns the error that `f` throws, if it throws one.
template <class F>
std::optional<chorale::error> error_of(F&& f) {
  try {
    f();
  } catch (const chorale::error& e) {
    return e;
  }
  return std::nullopt;
}

/// Whether an error names a rank.
inline bool names(const chorale::error& e, int rank) {
  return std::find(e.ranks().begin(), e.ranks().end(), rank) != e.ranks().end();
}

/// `f` must throw an error of `code` whose text has all of `words`.
template <class F>
void refused(chorale::errc code, const std::vector<std::string>& words, F&& f) {
  const auto e = support::error_of(f);
  expect(e.has_value(), "not refused: " + (words.empty() ? std::string{} : words.front()));
  const std::string text = e->what();
  expect(e->code() == code, "refused with another code: " + text);
  for (const std::string& word : words)
    expect(text.find(word) != std::string::npos, "'" + word + "' is missing in: " + text);
}

}  // namespace support
