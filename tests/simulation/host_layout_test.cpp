// SPDX-License-Identifier: Apache-2.0
// Which host each rank of a simulation is on.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include <catch2/catch.hpp>

#include <chorale/communicator.hpp>
#include <chorale/simulation/machine/host_layout.hpp>
#include <chorale/simulation/run.hpp>

#include "../support/simulated.hpp"

namespace {

using namespace chorale::simulation;

}  // namespace

TEST_CASE("Each rank has a number of its own on one of the hosts that are needed", "[hosts]") {
  for (const auto by : {host_layout::order::by_host, host_layout::order::cyclic})
    for (int each = 1; each <= 7; ++each)
      for (int ranks = 1; ranks <= 40; ++ranks) {
        const host_layout all{ranks, each, by};
        INFO(ranks << " ranks, " << each << " on a host, "
                   << (by == host_layout::order::cyclic ? "cyclic" : "by host"));
        // The ranks of each host, in order.
        std::vector<std::vector<int>> hosts(static_cast<std::size_t>(all.hosts()));
        bool is_right =
            (all.hosts() - 1) * each < ranks && all.hosts() * each >= ranks && all.ranks() == ranks;
        for (int rank = 0; rank < ranks; ++rank) {
          auto& mine = hosts.at(static_cast<std::size_t>(all.host_of(rank)));
          is_right = is_right && all.number_of(rank) == static_cast<int>(mine.size());
          mine.push_back(rank);
        }
        std::size_t largest = 0;
        for (std::size_t host = 0; host < hosts.size(); ++host) {
          const auto& mine = hosts[host];
          const int step = by == host_layout::order::cyclic ? all.hosts() : 1;
          for (std::size_t i = 1; i < mine.size(); ++i) is_right = is_right && mine[i] == mine[i - 1] + step;
          is_right = is_right && !mine.empty() &&
                     all.ranks_on(static_cast<int>(host)) == static_cast<int>(mine.size());
          largest = std::max(largest, mine.size());
        }
        CHECK(is_right);
        CHECK(all.largest() == static_cast<int>(largest));
        CHECK(all.largest() <= each);
      }
}

TEST_CASE("Where ranks are dealt to hosts in turn, places and results are those of that numbering",
          "[hosts]") {
  for (const int ranks : {5, 7, 12}) {
    machine m = support::test_machine(ranks);
    m.ranks_per_host = 4;
    m.hosts = (ranks + 3) / 4;
    m.network.shape = one_switch{m.hosts};
    m.near = support::test_near();
    m.numbering = host_layout::order::cyclic;
    run(ranks, m, [&](group& g) {
      chorale::communicator<> comm{g, {}};
      CHECK(g.local_rank() == g.rank() / m.hosts);
      const auto hosts = comm.hosts();
      CHECK(hosts.count() == m.hosts);
      CHECK(hosts.of(g.rank()) == g.rank() % m.hosts);
      CHECK(comm.transport().uses_lanes());
      std::vector<int> all(static_cast<std::size_t>(ranks), -1);
      comm.allgather(g.rank() * 3, all);
      std::vector<int> expected(all.size());
      for (int i = 0; i < ranks; ++i) expected[static_cast<std::size_t>(i)] = 3 * i;
      CHECK(all == expected);
      CHECK(comm.allreduce(g.rank() + 1, std::plus<>{}) == ranks * (ranks + 1) / 2);
    });
  }
}
