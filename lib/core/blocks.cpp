// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include <chorale/core/blocks.hpp>

namespace chorale {

std::pair<int, int> overlapping(const std::vector<extent>& places) {
  std::vector<int> order;
  for (std::size_t r = 0; r < places.size(); ++r)
    if (places[r].bytes != 0) order.push_back(static_cast<int>(r));
  const auto place = [&](int rank) { return places[static_cast<std::size_t>(rank)]; };
  std::sort(order.begin(), order.end(), [&](int a, int b) { return place(a).offset < place(b).offset; });
  for (std::size_t i = 1; i < order.size(); ++i)
    if (place(order[i - 1]).offset + place(order[i - 1]).bytes > place(order[i]).offset)
      return std::minmax(order[i - 1], order[i]);
  return {-1, -1};
}

}  // namespace chorale
