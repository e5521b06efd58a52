// SPDX-License-Identifier: Apache-2.0
// Variables of launchers and scripts as integers.
#pragma once

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace chorale::bootstrap {

/// The variable as an integer; `otherwise` if it is not set or not an integer.
[[nodiscard]] inline int integer_of(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return otherwise;
  int value = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, status] = std::from_chars(text, end, value);
  return status == std::errc{} && stop == end ? value : otherwise;
}

}  // namespace chorale::bootstrap
