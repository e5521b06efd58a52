// SPDX-License-Identifier: Apache-2.0
// The share of a test that is run, for slow devices.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace multirank {

/// CHORALE_TEST_BUDGET: the share of checks to perform, above 0 and at most 1, the default. Must be the same
/// on all ranks of a job.
class budget {
 public:
  budget() {
    const char* given = std::getenv("CHORALE_TEST_BUDGET");
    if (given == nullptr) return;
    char* end = nullptr;
    share_ = std::strtod(given, &end);
    if (end == given || *end != '\0' || !(share_ > 0 && share_ <= 1))
      throw std::invalid_argument("CHORALE_TEST_BUDGET='" + std::string{given} +
                                  "': a number above 0, up to 1");
  }
  /// That share of `count`, at least 1.
  [[nodiscard]] int of(int count) const { return std::max(1, static_cast<int>(share_ * count)); }
  /// True in that share of all cases; `random`: a random number of the case, the same on all ranks.
  [[nodiscard]] bool affords(std::uint64_t random) const {
    return static_cast<double>(random % 1024) < share_ * 1024;
  }

 private:
  double share_ = 1;
};

/// True if CHORALE_TEST_TRANSPORT is unset or names that transport.
inline bool tests_transport(std::string_view name) {
  const char* given = std::getenv("CHORALE_TEST_TRANSPORT");
  return given == nullptr || name == given;
}

}  // namespace multirank
