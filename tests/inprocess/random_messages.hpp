// SPDX-License-Identifier: Apache-2.0
// Random messages among the ranks of a group, as `exchange` takes them.
#pragma once

#include <cstddef>
#include <random>
#include <vector>

namespace inprocess {

struct message {
  int from;
  int to;
  std::size_t count;  ///< elements
};

/// Up to four messages per rank between any ranks, including several between the same two and from a rank to
/// itself: empty, short, of several blocks, and zero copy.
inline std::vector<message> random_messages(int ranks, std::mt19937& random) {
  const auto n = static_cast<unsigned>(ranks);
  std::vector<message> plan(random() % (4 * n + 1));
  for (message& m : plan) {
    m = {static_cast<int>(random() % n), static_cast<int>(random() % n), random() % 100};
    if (random() % 5 == 0) m.count = 0;
    if (random() % 4 == 0) m.count = random() % 50'000;
  }
  return plan;
}

}  // namespace inprocess
