// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <chorale/calls/element_number.hpp>
#include <chorale/core/error.hpp>

namespace chorale::calls {

void reject_number(const char* what, long long value) {
  throw error(errc::invalid_argument,
              std::string{what} + ": " + std::to_string(value) + " is no number that its elements can hold");
}

}  // namespace chorale::calls
