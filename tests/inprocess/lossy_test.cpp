// SPDX-License-Identifier: Apache-2.0
// Connections while datagrams are lost: on soft0's deferred engine with CHORALE_SOFT_LOSS (meson sets both;
// without them nothing is lost, and the test proves less).

#include <chorale/transport/rc.hpp>

#include "../support/collectives/checks.hpp"
#include "policies.hpp"
#include "ranks.hpp"

using namespace inprocess;
using namespace collectives;
using chorale::transport::rc;

TEST_CASE("reliable connections are made and closed while datagrams are lost", "[lossy]") {
  auto c = settings();
  // Two blocks: a rank that only sends soon waits for the receiver's acknowledgement.
  c.block_bytes = 256;
  c.blocks = 2;
  for (int round = 0; round < 12; ++round) {
    const auto s = mixed(seed() + static_cast<unsigned>(round));
    run_ranks<standard<rc>>(4, c, [&](auto& comm) {
      check_broadcast<std::byte>(comm, 20'000, static_cast<int>(s % 4), s);
      check_allreduce<triangle>(comm, 3, multiply{}, s + 1);
      check_barrier(comm);
      // Ranks leave one after another, before the last messages to them are acknowledged.
      chorale::clock::sleep_for(std::chrono::milliseconds{noise(s, comm.rank(), 0) % 8});
    });
  }
}
