// SPDX-License-Identifier: Apache-2.0
// Common parts of the tests of windows.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <chorale/window.hpp>

#include "harness.hpp"

namespace misuse::windows {

using misuse::check_all_right;
using misuse::expect;
using support::refused;
using number = std::uint64_t;

inline constexpr number untouched = 0xfeedfacecafebeef;

[[noreturn]] inline void complain(const std::string& what) {
  throw std::runtime_error(what);
}
}  // namespace misuse::windows
