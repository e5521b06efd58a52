// SPDX-License-Identifier: Apache-2.0
// Which ranks a leaving rank notifies, and which ranks are asked about one that may have left.
#include "../../lib/transport/group/farewell_audience.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include <catch2/catch.hpp>

using chorale::transport::farewell_audience;

TEST_CASE("a leaving rank tells its keepers, each once, and a small group as a whole", "[liveness]") {
  const int size = GENERATE(1, 2, 3, 5, 7, 16, 17, 33, 128, 129, 144, 255, 256, 1000, 4096);
  const int rank = GENERATE_COPY(0, size / 3, size - 1);
  CAPTURE(size, rank);
  const farewell_audience audience{rank, size};
  const std::vector<int> keepers = audience.keepers();
  const std::set<int> each{keepers.begin(), keepers.end()};
  CHECK(each.size() == keepers.size());
  CHECK_FALSE(each.contains(rank));
  std::set<int> expected;
  for (int step = 1; step < size; step *= 2) {
    expected.insert((rank + step) % size);
    expected.insert((rank - step + size) % size);
  }
  CHECK(each == expected);
  int strangers = 0;
  for (int peer = 0; peer < size; ++peer) {
    if (peer == rank) continue;
    CHECK(audience.includes(peer) == (size <= 128 || each.contains(peer)));
    // The relation is symmetric.
    CHECK(farewell_audience{peer, size}.includes(rank) == audience.includes(peer));
    strangers += audience.includes(peer) ? 0 : 1;
  }
  CHECK((strangers > 0) == (size > 128));
}
