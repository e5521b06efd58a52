// SPDX-License-Identifier: Apache-2.0
// Algorithms and their costs, from which the fastest is chosen.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace chorale::model {

/// The limit of the rule for the longest messages.
inline constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

struct candidate {
  int algorithm = 0;  ///< its index among the names
  double microseconds = 0;
};

/// The fastest of at least one; the lowest index among equals. Costs within `tolerance`, a fraction of the
/// least, count as equal.
const candidate& fastest(const std::vector<candidate>& all, double tolerance = 0);

/// "ring 12.1 us, bruck 15.0 us at 64 bytes (source); not measured: mine::ring": the best three, and the
/// algorithms without data, which are not chosen; `what_lacks` names the missing data.
std::string reason(const std::vector<candidate>& known, std::size_t bytes, std::span<const std::string> names,
                   const std::string& source, const char* what_lacks);

}  // namespace chorale::model
