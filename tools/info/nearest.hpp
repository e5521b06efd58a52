// Which known name a misspelt one was meant to be.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace info {

/// Characters to insert, delete or replace, or neighbours to swap, to make one of the other (optimal string
/// alignment).
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = a[i - 1] == b[j - 1];
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0U : 1U)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

/// The one of `known` that is nearest to `name`, if it differs in at most a third of the part behind the
/// common prefix "CHORALE_" or is the beginning or end of it; else empty.
inline std::string nearest(std::string_view name, const std::vector<std::string_view>& known) {
  constexpr std::string_view prefix = "CHORALE_";
  const auto tail = [&](std::string_view n) { return n.starts_with(prefix) ? n.substr(prefix.size()) : n; };
  const auto own = tail(name);
  std::string_view best;
  std::size_t least = own.size() / 3 + 1;
  for (const auto candidate : known) {
    const auto other = tail(candidate);
    std::size_t distance = edit_distance(own, other);
    if (own.size() >= 3 && (other.starts_with(own) || other.ends_with(own) || own.ends_with(other)))
      distance = std::min<std::size_t>(distance, 1);
    if (distance < least + (best.empty() ? 1 : 0)) {
      least = distance;
      best = candidate;
    }
  }
  return std::string{best};
}

}  // namespace info
