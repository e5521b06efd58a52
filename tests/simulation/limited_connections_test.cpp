// SPDX-License-Identifier: Apache-2.0
// The cost of a limit on connections, in virtual time.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/algorithm/alltoall/direct.hpp>
#include <chorale/communicator.hpp>
#include <chorale/simulation/run.hpp>
#include <chorale/transport/rc.hpp>

#include "../support/simulated.hpp"

namespace {

namespace sim = chorale::simulation;

constexpr int calls = 20;

/// The time of alltoalls of one integer per rank on `ranks` ranks, over at most `connections` connections
/// each.
sim::duration time_of_alltoall(int ranks, std::uint32_t connections) {
  chorale::config settings;
  settings.connections = connections;
  sim::duration whole{};
  sim::run(ranks, support::test_machine(ranks), [&](sim::group& g) {
    chorale::communicator<chorale::transport::rc, chorale::alltoall::direct> comm{g, settings};
    std::vector<int> out(static_cast<std::size_t>(ranks));
    const auto exchange = [&](int call) {
      std::vector<int> in;
      for (int to = 0; to < ranks; ++to) in.push_back(call + comm.rank() * ranks + to);
      comm.alltoall(in, out);
      for (int from = 0; from < ranks; ++from)
        CHECK(out[static_cast<std::size_t>(from)] == call + from * ranks + comm.rank());
    };
    exchange(0);
    comm.barrier();
    const auto begun = sim::now();
    for (int call = 1; call <= calls; ++call) exchange(call);
    if (comm.rank() == 0) whole = sim::now() - begun;
  });
  return whole / calls;
}

TEST_CASE("An alltoall over fewer connections than peers takes at most twenty times as long",
          "[connections]") {
  for (const int ranks : {4, 5, 8}) {
    const auto unlimited = time_of_alltoall(ranks, 0);
    for (const std::uint32_t limit : {2U, 3U}) {
      const auto limited = time_of_alltoall(ranks, limit);
      CAPTURE(ranks, limit, unlimited.count(), limited.count());
      CHECK(limited <= 20 * unlimited);
    }
  }
}

}  // namespace
