// SPDX-License-Identifier: Apache-2.0
#include "expected_ranks.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "../core/printable.hpp"

namespace chorale::bootstrap {

void require_expected_ranks(int size, errc otherwise, std::string_view how) {
  const char* text = std::getenv("CHORALE_RANKS");
  if (text == nullptr) return;
  int value = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, status] = std::from_chars(text, end, value);
  if (status != std::errc{} || stop != end || value < 1)
    throw error(errc::invalid_environment,
                fmt::format("CHORALE_RANKS='{}' cannot be used: it accepts a number of ranks, 1 and up",
                            printable(text)));
  if (value != size)
    throw error(otherwise,
                fmt::format("CHORALE_RANKS expects {} ranks, but there are {}: {}", value, size, how));
}

}  // namespace chorale::bootstrap
