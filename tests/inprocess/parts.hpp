// SPDX-License-Identifier: Apache-2.0
// Colours and keys of a split, and the parts that they make, computed without the library.
#pragma once

#include <algorithm>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

#include <chorale/communicator.hpp>

namespace inprocess {

/// The colour and the key of each rank.
struct coloured {
  std::vector<int> colors;
  std::vector<int> keys;

  coloured(int size, std::mt19937_64& random) {
    for (int r = 0; r < size; ++r) {
      const int color = static_cast<int>(random() % 4) - 1;
      colors.push_back(color < 0 ? chorale::undefined_color : color);
      keys.push_back(static_cast<int>(random() % 5) - 2);
    }
  }
  /// All keys are equal.
  explicit coloured(std::vector<int> of) : colors(std::move(of)), keys(colors.size()) {}

  /// The members of the part of rank `me`, in order.
  [[nodiscard]] std::vector<int> members(int me) const {
    std::vector<std::pair<int, int>> sorted;
    for (std::size_t r = 0; r < colors.size(); ++r)
      if (colors[r] >= 0 && colors[r] == colors[static_cast<std::size_t>(me)])
        sorted.emplace_back(keys[r], static_cast<int>(r));
    std::sort(sorted.begin(), sorted.end());
    std::vector<int> found;
    for (const auto& [key, r] : sorted) found.push_back(r);
    return found;
  }
};

}  // namespace inprocess
