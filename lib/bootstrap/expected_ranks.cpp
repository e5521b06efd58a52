// SPDX-License-Identifier: Apache-2.0
#include "expected_ranks.hpp"

#include <cstdlib>

#include <fmt/format.h>

#include "../core/printable.hpp"
#include "integer_of.hpp"

namespace chorale::bootstrap {

void require_expected_ranks(int size, errc otherwise, std::string_view how) {
  const char* text = std::getenv("CHORALE_RANKS");
  if (text == nullptr) return;
  const int value = integer_of("CHORALE_RANKS", 0);
  if (value < 1)
    throw error(errc::invalid_environment,
                fmt::format("CHORALE_RANKS='{}' cannot be used: it accepts a number of ranks, 1 and up",
                            printable(text)));
  if (value != size)
    throw error(otherwise,
                fmt::format("CHORALE_RANKS expects {} ranks, but there are {}: {}", value, size, how));
}

}  // namespace chorale::bootstrap
