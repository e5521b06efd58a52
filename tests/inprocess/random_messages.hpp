// SPDX-License-Identifier: Apache-2.0
// Random messages among the ranks of a group, as `exchange` takes them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

#include "ranks.hpp"

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

/// Runs `body(comm)` on groups of several sizes, whose messages take different ways; with the last threshold
/// the senders decide on that.
template <class Comm>
void run_exchanges(const support::action<Comm>& body) {
  for (const int size : {1, 2, 3, 5, 7}) {
    if (inprocess::too_large(size)) continue;
    for (const std::size_t straight : {std::size_t{1}, std::size_t{1000}, std::size_t{65536}}) {
      auto c = inprocess::settings();
      if (straight != 65536) c.zero_copy_bytes = straight;
      c.send_receive_eager_bytes = std::max(straight, std::size_t{64});
      if (straight != 1) c.blocks = 2;
      inprocess::run_ranks<Comm>(size, c, body);
    }
  }
}

}  // namespace inprocess
