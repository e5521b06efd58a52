// SPDX-License-Identifier: Apache-2.0
// Groups in which a leaving rank does not tell all others: what those learn that never met it.
#include <chrono>
#include <optional>
#include <utility>

#include <catch2/catch.hpp>

#include <chorale/algorithm/barrier/dissemination.hpp>
#include <chorale/algorithm/broadcast/flat.hpp>
#include <chorale/algorithm/broadcast/multicast.hpp>
#include <chorale/communicator.hpp>
#include <chorale/core/error.hpp>
#include <chorale/simulation/run.hpp>
#include <chorale/transport/rc.hpp>
#include <chorale/transport/ud.hpp>

#include "../support/simulated.hpp"

namespace {

using namespace std::chrono_literals;
namespace sim = chorale::simulation;
using Catch::Contains;

/// 18 hosts of 8 ranks. The distance between rank 0 and the stranger is no power of two in either direction.
constexpr int many = 144;
constexpr int stranger = 100;

sim::machine hosts_of_eight() {
  auto on = support::test_machine(many);
  on.ranks_per_host = 8;
  on.host.cores = 8;
  on.hosts = many / 8;
  on.network.shape = sim::one_switch{on.hosts};
  return on;
}

/// Its calls leave most ranks strangers to each other.
template <class Transport>
using communicator =
    chorale::communicator<Transport, chorale::barrier::dissemination, chorale::broadcast::flat>;

/// Rank 0 waits for a broadcast of the stranger, which has left; the others leave after computing for `rest`.
/// @returns the error that rank 0 gets, and when.
template <class Transport>
std::pair<std::optional<chorale::error>, sim::duration> wait_for_stranger(sim::duration rest) {
  std::optional<chorale::error> failure;
  sim::duration when{};
  sim::run(many, hosts_of_eight(), [&](sim::group& g) {
    communicator<Transport> comm{g, {}};
    comm.barrier();
    if (comm.rank() != 0) return sim::compute(comm.rank() == stranger ? sim::duration{} : rest);
    // Not at once: by a question that arrives while the stranger is leaving, the two would know each other.
    sim::compute(500ms);
    int value = 0;
    try {
      comm.broadcast(value, chorale::root{stranger});
    } catch (const chorale::error& e) {
      failure.emplace(e);
    }
    when = sim::now().time_since_epoch();
  });
  return {failure, when};
}

TEMPLATE_TEST_CASE("In a large group, a rank that waits for a stranger learns from others that it has left",
                   "[large]", chorale::transport::rc, chorale::transport::ud) {
  const auto [failure, when] = wait_for_stranger<TestType>(5s);
  REQUIRE(failure);
  CHECK(failure->code() == chorale::errc::peer_lost);
  CHECK_THAT(failure->what(), Contains("rank 100 on host host12 is lost to rank 0: it has left"));
  CHECK(when < 3s);
}

TEMPLATE_TEST_CASE("In a large group, a stranger that has left with all who know of it is silent", "[large]",
                   chorale::transport::rc, chorale::transport::ud) {
  const auto [failure, when] = wait_for_stranger<TestType>({});
  REQUIRE(failure);
  CHECK(failure->code() == chorale::errc::peer_lost);
  CHECK_THAT(failure->what(),
             Contains("it has given no sign of life") && Contains("; it may also have left: "));
  CHECK(when < 25s);
}

TEST_CASE("In a large group, receivers that only heard multicasts tell their sender that they leave",
          "[large]") {
  int got = 0;
  const auto result = sim::run(many, hosts_of_eight(), [&](sim::group& g) {
    chorale::communicator<chorale::transport::rc, chorale::barrier::dissemination,
                          chorale::broadcast::multicast>
        comm{g, {}};
    int value = comm.rank() == 0 ? 4711 : 0;
    comm.broadcast(value, chorale::root{0});
    got += value == 4711 ? 1 : 0;
    // The others have left by then.
    if (comm.rank() == 0) sim::compute(500ms);
  });
  CHECK(got == many);
  CHECK(result.elapsed < 1s);
}

TEST_CASE("In a large group, strangers of the same host that have left are not taken for dead", "[large]") {
  constexpr int late = 50;
  int got = 0;
  chorale::config c;
  c.silence = 1s;
  sim::run(many, hosts_of_eight(), [&](sim::group& g) {
    communicator<chorale::transport::rc> comm{g, c};
    comm.barrier();
    if (comm.rank() == late) sim::compute(5s);
    const int value = 4711;
    // Meanwhile the processes of all others end, including those that rank 0 can see.
    if (comm.rank() == late)
      comm.exchange({chorale::to(0, value)}, {});
    else if (comm.rank() == 0)
      comm.exchange({}, {chorale::from(late, got)});
    else
      comm.exchange({}, {});
  });
  CHECK(got == 4711);
}

TEST_CASE("In large groups, leaving takes datagrams by n log n", "[large]") {
  const auto events_of = [](int size) {
    auto on = hosts_of_eight();
    on.hosts = size / 8;
    on.network.shape = sim::one_switch{on.hosts};
    return sim::run(size, on,
                    [](sim::group& g) {
                      communicator<chorale::transport::rc>{g, {}}.barrier();
                    })
        .events;
  };
  const auto some = events_of(many);
  const auto twice = events_of(2 * many);
  CAPTURE(some, twice);
  // 2.3 times as many; 2.9 times if each rank told all others.
  CHECK(10 * twice < 26 * some);
}

}  // namespace
