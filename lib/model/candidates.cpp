// SPDX-License-Identifier: Apache-2.0
#include "candidates.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace chorale::model {
namespace {

/// "ring 12.1 us, bruck 15.0 us": the best three.
std::string list(std::vector<candidate> all, std::span<const std::string> names) {
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.microseconds < b.microseconds; });
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, all.size()); ++i)
    text += fmt::format("{}{} {:.3g} us", i == 0 ? "" : ", ",
                        names[static_cast<std::size_t>(all[i].algorithm)], all[i].microseconds);
  return text;
}

/// "; not measured: mine::ring": the algorithms without data, which are not chosen. `what` names the missing
/// data.
std::string unknown(const std::vector<candidate>& known, std::span<const std::string> names,
                    const char* what) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool found = std::any_of(known.begin(), known.end(),
                                   [&](const candidate& c) { return c.algorithm == static_cast<int>(i); });
    if (!found) text += fmt::format("{}{}", text.empty() ? fmt::format("; {}: ", what) : ", ", names[i]);
  }
  return text;
}

}  // namespace

const candidate& fastest(const std::vector<candidate>& all, double tolerance) {
  double least = all.front().microseconds;
  for (const auto& c : all) least = std::min(least, c.microseconds);
  const candidate* first = nullptr;
  for (const auto& c : all) {
    if (c.microseconds <= least * (1 + tolerance) && (!first || c.algorithm < first->algorithm)) first = &c;
  }
  return *first;
}

std::string reason(const std::vector<candidate>& known, std::size_t bytes, std::span<const std::string> names,
                   const std::string& source, const char* what_lacks) {
  return fmt::format("{} at {} bytes ({}){}", list(known, names), bytes, source,
                     unknown(known, names, what_lacks));
}

}  // namespace chorale::model
